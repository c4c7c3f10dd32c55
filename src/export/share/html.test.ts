// Recorded text in a page: never HTML, and never long in the making.
import { expect, test } from "vitest";
import { escapeHtml, markdownHtml } from "./html.js";

test("control characters, turned directions and halves of characters become a box; whole characters stay", () => {
  expect(escapeHtml("a\u0000b\u001b[31m\u202ec\ud800d")).toBe("a\ufffdb\ufffd[31m\ufffdc\ufffdd");
  expect(escapeHtml("灯 \u{1F600} é\n\t")).toBe("灯 \u{1F600} é\n\t");
  expect(escapeHtml("\u{1F600}\u0000<b a='\"'>&")).toBe("\u{1F600}\ufffd&lt;b a=&#39;&quot;&#39;&gt;&amp;");
});

test("Markdown is set as text; HTML, images and other addresses stay as they were typed", () => {
  const html = markdownHtml(
    "# Head\n\n*a* **b** `c<d>` ~~e~~\n\n- one\n- [x] two\n\n> q\n\n```js\n<i>\n```\n\n|h|\n|-|\n|c|\n",
  );
  expect(html).toBe(
    '<p class="heading" dir="auto">Head</p><p dir="auto"><em>a</em> <strong>b</strong> <code>c&lt;d&gt;</code> <del>e</del></p>' +
      '<ul><li dir="auto">one</li><li dir="auto">☑ two</li></ul><blockquote><p dir="auto">q</p></blockquote><pre>&lt;i&gt;</pre>' +
      '<div class="scrolls"><table><thead><tr><th>h</th></tr></thead><tbody><tr><td>c</td></tr></tbody></table></div>',
  );
  expect(markdownHtml('<b onclick=x>y</b> ![i](http://a/b.png) [j](javascript:x) [w](https://a/"x)')).toBe(
    '<p dir="auto">&lt;b onclick=x&gt;y&lt;/b&gt; ![i](http://a/b.png) [j](javascript:x) ' +
      '<a href="https://a/&quot;x" title="https://a/&quot;x" rel="noreferrer noopener nofollow">w</a></p>',
  );
});

const CHARS = 20_000;
const filled = (part: string): string => part.repeat(Math.ceil(CHARS / part.length)).slice(0, CHARS);

test.each([
  ...[
    "*a ",
    "*a_b ",
    "[a",
    "[a](",
    "![a](",
    "`a``b",
    "<a href=",
    "> ",
    ">a\n> ",
    "- a\n  - b\n",
    "**a *b ",
    "a@b.c ",
    "http://a.b/",
    "&a",
  ],
  ...[
    "[a]: b\n",
    "[a][b] ",
    "a  \n",
    "<!--",
    "\\a",
    "*[a_`",
    "1. a\n",
    "a\n=",
    "- - - ",
    "|a|b|\n|-|-|\n",
    "~~a ",
    "[(a)](",
  ],
])("20,000 characters of %j take no time that others notice", (part) => {
  const start = performance.now();
  const html = markdownHtml(filled(part));
  // A machine at work takes a few times as long as an idle one.
  expect(performance.now() - start).toBeLessThan(2_000);
  expect(html.length).toBeLessThan(40 * CHARS);
});

test("a table of few characters and many cells, and quotes within quotes, stay text", () => {
  expect(markdownHtml(`${"|a".repeat(900)}\n${"|-".repeat(900)}\n${"b\n".repeat(900)}`)).not.toContain("<table>");
  expect(markdownHtml(`${"> ".repeat(200)}deep`).match(/<blockquote>/g) ?? []).toHaveLength(0);
});
