// A sentence without the marks of its page: list items, headings and emphasis say nothing.

const BEGINNING = /^(?:[\s>#]|[-*+•][ \t]|\d{1,3}[.)][ \t]|\[[ xX]\][ \t])+/;
/** Only in pairs around words: `*.ts` and `__init__` are names. */
const STRONG = /\*\*([^*\n]{1,500})\*\*/g;
const EMPHASIS = /(?<![\p{L}\p{N}*/])\*([\p{L}\p{N}][^*\n]{0,500})\*(?![\p{L}\p{N}*/])/gu;

export function plain(sentence: string): string {
  return sentence.replace(BEGINNING, "").replace(STRONG, "$1").replace(EMPHASIS, "$1").trim();
}
