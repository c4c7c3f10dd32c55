// What a reader marks is text as it is set; what is quoted must stand in the entry word for word, signs of Markdown included.

/** Signs that are set and not shown; white space is set anew as well. */
const SIGN = /[*_`~#>|\\\s[\]]/;

/** The piece of a text that is shown as these words; undefined where there is none. */
export function quoteIn(text: string, shown: string): string | undefined {
  if (text.includes(shown)) return shown;
  const places: number[] = [];
  let bare = "";
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charAt(at);
    if (SIGN.test(unit)) continue;
    bare += unit;
    places.push(at);
  }
  const sought = shown.split(SIGN).join("");
  const found = sought === "" ? -1 : bare.indexOf(sought);
  return found === -1 ? undefined : text.slice(places[found], (places[found + sought.length - 1] as number) + 1);
}
