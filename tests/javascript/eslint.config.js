// What the linter checks: mistakes, and the rules of the pages (no global state, short lines).
import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    languageOptions: { sourceType: "module", globals: { ...globals.browser } },
    rules: {
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      "max-len": ["error", { code: 100 }],
      // A module keeps nothing that changes: state belongs to the page that draws.
      "no-restricted-syntax": ["error", { selector: "Program > VariableDeclaration[kind='let']" }],
    },
  },
  { files: ["tests/**", "course/site/*.js"], languageOptions: { globals: { ...globals.node } } },
];
