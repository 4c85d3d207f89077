// Formulas that break where a line ends. A browser breaks no line within a <math> element, so a
// long formula becomes several, each of which ends with an operator, a comma or a wide space.

// The elements of MathML's outermost row.
function children(html) {
  const out = [];
  let depth = 0;
  let start = 0;
  for (const tag of html.matchAll(/<(\/?)\w+[^>]*?(\/?)>/g)) {
    if (tag[1]) --depth;
    else if (!tag[2]) ++depth;
    if (depth === 0) {
      const end = tag.index + tag[0].length;
      out.push(html.slice(start, end));
      start = end;
    }
  }
  return out;
}

const textOf = (html) => html.replace(/<[^>]*>/g, "");
const isBreak =
  /^<mspace width="[12]em"|^<mo( separator="true")?>([,;]|[=≈≤≥<>→↦∈+−∼≠]|&[lg]t;)<\/mo>$/;

function pieces(row) {
  const out = [];
  let piece = [];
  let open = 0;
  for (const child of children(row)) {
    const sign = textOf(child);
    if (child.startsWith("<mo")) open += "([{".includes(sign || " ") - ")]}".includes(sign || " ");
    piece.push(child);
    if (open === 0 && isBreak.test(child) && textOf(piece.join("")).length > 5) {
      // Its form depends on the place in its row, which now is another: the operator stays between
      // its operands.
      piece.push(piece.pop().replace(/^<mo(?=[ >])/, '<mo form="infix"'));
      out.push(piece.join(""));
      piece = [];
    }
  }
  if (piece.length && textOf(piece.join("")).length < 3 && out.length)
    out.push(out.pop() + piece.join(""));
  else if (piece.length) out.push(piece.join(""));
  return out;
}

// The HTML of a formula, in pieces if it is long.
export function breakable(html) {
  return html.replace(
    /<math ([^>]*)><semantics><mrow>(.*)<\/mrow><annotation.*?<\/annotation>.*?<\/math>/gs,
    (whole, attributes, row) => {
      const parts = textOf(row).length > 14 ? pieces(row) : [];
      if (parts.length < 2) return whole;
      const style = attributes.replace('display="block"', 'displaystyle="true"');
      return parts
        .map((part) => `<span class="piece"><math ${style}><mrow>${part}</mrow></math></span>`)
        .join("<wbr>");
    },
  );
}
