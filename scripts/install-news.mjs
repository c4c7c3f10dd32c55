// What of npm's output is worth a line to somebody who waits: the one native module takes most of an installation's time.

/** @type {readonly { readonly sign: RegExp, readonly news: string }[]} */
const signs = [
  { sign: /^> better-sqlite3@\S+ install$/, news: "Fetching the prebuilt binary of better-sqlite3." },
  {
    sign: /^prebuild-install (?:warn|error) /,
    news: "No prebuilt binary can be had here: compiling better-sqlite3, which takes about a minute.",
  },
  { sign: /^gyp ERR! /, news: "Compiling better-sqlite3 failed; it needs Python, make and a C++ compiler." },
];

/**
 * Hears npm's output line by line and tells each piece of news once.
 *
 * @param {(line: string) => void} say
 * @returns {(line: string) => void}
 */
export function installNews(say) {
  /** @type {Set<string>} */
  const told = new Set();
  return (line) => {
    for (const { sign, news } of signs) {
      if (!sign.test(line) || told.has(news)) continue;
      told.add(news);
      say(news);
    }
  };
}
