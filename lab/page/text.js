// Numbers as people read them: a true minus, thin spaces in thousands, "%" after a space.

const minus = (text) => text.replace("-", "−");

// "5 000"
export function whole(number) {
  return minus(Math.round(number).toString()).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

// "0.0123" of 0.012345: `digits` significant ones, without an exponent where it can be read.
export function significant(number, digits = 3) {
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "–" : minus(`${number}`);
  if (number === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(number)) + 1e-12);
  if (exponent < -4 || exponent > 6) return minus(number.toExponential(Math.max(0, digits - 1)));
  if (exponent >= digits - 1) return whole(number);
  return minus(number.toFixed(digits - 1 - exponent));
}

// "51.2 %"
export const percent = (fraction, decimals = 1) => minus(`${(100 * fraction).toFixed(decimals)} %`);

// The text of a tick: "0.02", "1 000", "100 k", "10⁻⁷", in percent for fractions.
export function tickText(value, fraction = false) {
  if (fraction) return `${Number((100 * value).toFixed(6))} %`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e4) {
    const [unit, letter] = size >= 1e9 ? [1e9, "G"] : size >= 1e6 ? [1e6, "M"] : [1e3, "k"];
    if (size >= 1e5) return minus(`${Number((value / unit).toPrecision(3))} ${letter}`);
    return whole(value);
  }
  if (size >= 1e3) return whole(value);
  if (size >= 1e-4) return minus(`${Number(value.toPrecision(6))}`);
  const exponent = Math.floor(Math.log10(size) + 1e-9);
  const digit = Math.round(value / 10 ** exponent);
  const raised = [...`${-exponent}`].map((each) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[each]).join("");
  return minus(`${digit === 1 ? "" : `${digit}·`}10⁻${raised}`);
}

// "loss by step" → "loss-by-step", for a file.
export function fileName(text) {
  const name = text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return name.replace(/^-+|-+$/g, "").slice(0, 60) || "drawing";
}
