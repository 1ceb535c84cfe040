// Numbers as texts. A value that is missing is "–".

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const none = "–";

export const count = (n) => (n == null ? none : whole.format(n));
export const number = (n) => (n == null ? none : Math.abs(n) >= 100 ? whole.format(n) : short.format(n));
export const percent = (share) => (share == null || Number.isNaN(share) ? none : `${short.format(100 * share)}%`);

const scaled = (n, units) => {
  const [size, name] = units.find(([size]) => n >= size) ?? units[units.length - 1];
  return `${number(n / size)} ${name}`;
};

export const bytes = (n) => scaled(n, [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]);
export const seconds = (n) => (n == null ? none : n === 0 ? "0" : scaled(n, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]));
export const atMost = (n) => (n == null ? none : `≤ ${seconds(n)}`);
export const clock = (at) => new Date(at).toLocaleTimeString("en-GB");

export const lasting = (s) => {
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const i = Math.max(parts.findIndex(([size]) => s >= size), 0);
  const [size, name] = s < 1 ? parts[3] : parts[i];
  const rest = s < 1 || i === 3 ? "" : ` ${Math.floor((s % size) / parts[i + 1][0])} ${parts[i + 1][1]}`;
  return `${Math.floor(s / size)} ${name}${rest}`;
};

const LONGEST = 1000; // characters of a text from a request
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

// visible returns a text from a request, with its control characters as escapes. They could reverse the text after them.
export const visible = (text, longest = LONGEST) => {
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return shown.replace(hidden, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
};
