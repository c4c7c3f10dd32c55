// What happens in other projects the same week: a search service, a shop in German, a kitchen app in Japanese.
import { assistant, call, decision, error, failed, feedback, interaction, named, type Scene, user } from "./scene.js";

export const elsewhere: readonly Scene[] = [
  {
    session_id: "kestrel/slow-queries",
    project: "kestrel-search",
    client: "codex",
    days_ago: 5,
    at: "14:20",
    title: "Why is the search slow on Mondays?",
    steps: [
      named(
        "demo-said-mondays",
        user("Search takes four seconds on Monday mornings and 200 ms otherwise. Find the cause.", 0),
      ),
      call(
        "shell",
        { command: "kubectl top pods -n search" },
        "search-0  1900m  3.1Gi\nsearch-1   110m  0.9Gi\nsearch-2    98m  0.9Gi",
        900,
      ),
      assistant("One of three instances does nearly all the work, so it is not the load but where it goes.", 0.77),
      call("shell", { command: "redis-cli --scan --pattern 'route:*' | wc -l" }, "1", 320),
      failed("shell", { command: "redis-cli get route:weekly" }, "(error) MOVED 7438 10.0.3.11:6379", 140),
      error("MOVED 7438 10.0.3.11:6379", "redis-cli get route:weekly"),
      call("shell", { command: "redis-cli -c get route:weekly" }, "search-0", 150),
      named(
        "demo-answer-pins",
        assistant(
          "The weekly job pins its customers to `search-0`, and the pin is never taken away until the next Sunday.",
          0.89,
        ),
      ),
      user("Could it be the garbage collector instead?"),
      assistant("It might be. I have not looked at its log, and the numbers do not rule it out.", 0.42),
      call(
        "shell",
        { command: "grep 'pause' gc.log | sort -k2 -n | tail -3" },
        "pause 11ms\npause 12ms\npause 14ms",
        210,
      ),
      assistant("No: the longest pause was 14 ms. The pin explains all of it.", 0.94),
      decision("Let route pins expire after ten minutes", "a pin helps a running job and nobody else"),
    ],
  },
  {
    session_id: "kestrel/assistant",
    project: "kestrel-search",
    client: "docs-bot",
    days_ago: 2,
    at: "10:02",
    title: "Questions to the documentation",
    steps: [
      interaction({
        prompt: "How do I search for a phrase?",
        response: 'Put it in double quotes: `"exact phrase"`. It must then occur within one field, verbatim.',
        model: "gpt-5-mini",
        memories_used: ["m-quotes"],
        chunks_used: ["docs/search.md#phrases", "docs/search.md#fields"],
        context_pack: {
          system: "You answer questions about Kestrel from its documentation.",
          messages: [{ role: "user", content: "How do I search for a phrase?" }],
        },
        usage: { input_tokens: 812, output_tokens: 41 },
        latency_ms: 920,
      }),
      named(
        "demo-answer-wrong",
        interaction({
          prompt: "Can I use regular expressions?",
          response: "Yes, with `/pattern/`.",
          model: "gpt-5-mini",
          chunks_used: ["docs/roadmap.md#regex"],
          context_pack: {
            system: "You answer questions about Kestrel from its documentation.",
            messages: [
              { role: "user", content: "How do I search for a phrase?" },
              { role: "assistant", content: "Put it in double quotes." },
              { role: "user", content: "Can I use regular expressions?" },
            ],
          },
          usage: { input_tokens: 930, output_tokens: 12 },
          latency_ms: 740,
        }),
      ),
      feedback("demo-answer-wrong", -1, "no such thing, that page is the roadmap"),
      interaction({
        prompt: "What is the limit of results?",
        model: "gpt-5-mini",
        error: "429 Too Many Requests: the organisation's rate limit was reached",
        latency_ms: 120,
      }),
    ],
  },
  {
    session_id: "atlas/help-desk",
    project: "atlas-billing",
    client: "help-desk",
    days_ago: 1,
    at: "14:10",
    title: "Questions of the accountants",
    steps: [
      interaction({
        prompt: "An invoice says 10412.36 and the ledger 10412.35. Which of the two do I send?",
        response:
          "The ledger always wins over the invoice, so send 10412.35. The invoice is corrected with the next run.",
        model: "claude-sonnet-4-5",
        memories_used: ["demo-memory-ledger"],
        context_pack: {
          system: "You help accountants with Atlas. Known: The ledger always wins over the invoice.",
          messages: [
            { role: "user", content: "An invoice says 10412.36 and the ledger 10412.35. Which of the two do I send?" },
          ],
        },
        usage: { input_tokens: 640, output_tokens: 38 },
        latency_ms: 1_150,
      }),
      named(
        "demo-answer-credit",
        interaction({
          prompt: "And a credit note?",
          response: "The same rule holds for credit notes.",
          model: "claude-sonnet-4-5",
          memories_used: ["demo-memory-ledger"],
          context_pack: {
            system: "You help accountants with Atlas. Known: The ledger always wins over the invoice.",
            messages: [
              {
                role: "user",
                content: "An invoice says 10412.36 and the ledger 10412.35. Which of the two do I send?",
              },
              { role: "assistant", content: "The ledger always wins over the invoice, so send 10412.35." },
              { role: "user", content: "And a credit note?" },
            ],
          },
          usage: { input_tokens: 720, output_tokens: 14 },
          latency_ms: 890,
        }),
      ),
      feedback("demo-answer-credit", 1, "short and right"),
    ],
  },
  {
    session_id: "laden/warenkorb",
    project: "laden",
    client: "claude-code",
    days_ago: 2,
    at: "15:15",
    title: "Warenkorb verliert Artikel",
    steps: [
      user("Der Warenkorb verliert Artikel, wenn man sich anmeldet. Bitte finde heraus, warum.", 0),
      assistant("Ich sehe mir zuerst an, was beim Anmelden mit dem Warenkorb geschieht.", 0.8),
      call(
        "read_file",
        { path: "laden/sitzung.ts" },
        "export function anmelden(gast, konto) {\n  return { ...gast, ...konto };\n}\n",
        22,
      ),
      assistant(
        "Beim Zusammenführen überschreibt `...konto` den Warenkorb des Gastes, auch wenn der des Kontos leer ist.",
        0.91,
      ),
      named(
        "demo-said-cent",
        user("Bitte merke dir: Preise immer in Cent, niemals als Gleitkommazahl. Und behebe den Fehler."),
      ),
      decision(
        "Beim Anmelden werden beide Warenkörbe vereinigt",
        "kein Kunde soll einen Artikel verlieren, den er gewählt hat",
      ),
      call(
        "apply_patch",
        {
          path: "laden/sitzung.ts",
          patch:
            "@@ -1,3 +1,4 @@\n-  return { ...gast, ...konto };\n+  const korb = vereinigt(gast.korb, konto.korb);\n+  return { ...gast, ...konto, korb };\n",
        },
        "1 Datei geändert",
        25,
      ),
      call("bash", { command: "npm test -- sitzung" }, "14 bestanden", 2_900),
      assistant("Behoben, mit einem Test für leere und für volle Körbe.", 0.95),
    ],
  },
  {
    session_id: "daidokoro/献立",
    project: "台所アプリ",
    client: "cursor",
    days_ago: 1,
    at: "18:30",
    title: "献立の並び順が週の途中で変わる",
    steps: [
      user("献立の並び順が水曜日になると変わってしまいます。原因を調べてください。", 0),
      assistant("まず、並び替えの処理を確認します。", 0.78),
      call("read_file", { path: "src/kondate.ts" }, "items.sort((a, b) => a.曜日.localeCompare(b.曜日))", 19),
      assistant("曜日を文字列として比較しているため、「水」が「月」より前に来ます。曜日には番号を使うべきです。", 0.9),
      user("今後、曜日は必ず数字で保存してください。"),
      named(
        "demo-decision-weekday",
        decision("曜日は 0 から 6 の数字で保存する", "文字列の順序は言語によって変わるため"),
      ),
      failed("bash", { command: "npm test" }, "TypeError: localeCompare is not a function", 1_700),
      error("TypeError: a.曜日.localeCompare is not a function", "npm test"),
      call("bash", { command: "npm test" }, "22 passed", 1_650),
      assistant("直しました。すべてのテストが通ります。", 0.95),
    ],
  },
  {
    session_id: "kestrel/release-notes",
    project: "kestrel-search",
    client: "codex",
    days_ago: 0,
    at: "08:50",
    title: "",
    steps: [
      user("Write the release notes for 4.2 from the commits since 4.1.", 0),
      call(
        "shell",
        { command: "git log --oneline v4.1..HEAD" },
        "8c1d2f0 Let route pins expire\n77aa0b1 Count phrases once\n19be3c4 Say which shard was slow",
        90,
      ),
      assistant(
        "## Kestrel 4.2\n\n- Mondays are fast again: pins of routes expire after ten minutes.\n- Phrases are counted once.\n- A slow answer says which shard it waited for.",
        0.87,
      ),
      named(
        "demo-read-pins",
        call(
          "shell",
          { command: "cat config/routes.yml" },
          "# route pins expire after 60 minutes\npins: { ttl: 60m }",
          30,
        ),
      ),
      user("Shorter, and without the heading."),
      assistant(
        "- Mondays are fast again.\n- Phrases are counted once.\n- A slow answer says which shard was slow.",
        0.92,
      ),
    ],
  },
];
