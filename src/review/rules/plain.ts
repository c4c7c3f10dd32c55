// A sentence without the marks of its page: list items, headings and emphasis say nothing.

const BEGINNING = /^(?:[\s>#]|[-*+•][ \t]|\d{1,3}[.)][ \t]|\[[ xX]\][ \t])+/;
const EMPHASIS = /\*\*|__(?=\S)|(?<=\S)__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])/g;

export function plain(sentence: string): string {
  return sentence.replace(BEGINNING, "").replace(EMPHASIS, "").trim();
}
