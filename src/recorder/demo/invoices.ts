// A week on a billing service: a rounding error, what was decided about it, a subagent's audit, and what came of it.
import { assistant, call, clear, decision, error, failed, feedback, named, type Scene, user } from "./scene.js";

const project = "atlas-billing";
const client = "claude-code";
const MARCH = "atlas/invoices-march";

const rounding = `// Money is kept in cents, and rounded once, at the end.
export function roundCents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

export function total(lines: readonly Line[]): number {
  return lines.reduce((sum, line) => sum + roundCents(line.quantity * line.price), 0);
}
`;

const patch = `--- a/src/rounding.ts
+++ b/src/rounding.ts
@@ -1,8 +1,14 @@
-// Money is kept in cents, and rounded once, at the end.
-export function roundCents(amount: number): number {
-  return Math.round(amount * 100) / 100;
+// Half a cent goes to the even neighbour, as the ledger has it.
+export function roundCents(cents: number): number {
+  const floor = Math.floor(cents);
+  const rest = cents - floor;
+  if (rest !== 0.5) return Math.round(cents);
+  return floor % 2 === 0 ? floor : floor + 1;
 }
`;

export const invoices: readonly Scene[] = [
  {
    session_id: MARCH,
    project,
    client,
    days_ago: 4,
    at: "09:12",
    title: "Invoice totals off by one cent",
    steps: [
      user("The invoice totals are off by one cent in March. Customers notice. Find out why, and fix it.", 0),
      assistant("I will read the rounding code first, then compare a few March invoices with the ledger.", 0.82),
      call("read_file", { path: "src/rounding.ts" }, rounding, 41),
      call(
        "grep",
        { pattern: "roundCents", path: "src" },
        "src/rounding.ts:2\nsrc/invoice.ts:44\nsrc/credit-note.ts:31",
        63,
      ),
      failed(
        "bash",
        { command: "npm test -- rounding", cwd: "services/billing" },
        "FAIL  src/rounding.test.ts > totals agree with the ledger\nAssertionError: expected 10412.36 to be 10412.35\n\n Test Files  1 failed (1)\n      Tests  1 failed | 11 passed (12)\n   Duration  1.92s",
        2_140,
      ),
      failed("read_file", { path: "invoices/march.csv" }, "ENOENT: no such file or directory", 8),
      error("ENOENT: no such file, open 'invoices/march.csv'", "reading the March export that the test refers to"),
      assistant(
        "The test compares with `invoices/march.csv`, which is not in the repository. I **guess** that the ledger rounds half to even, but I have not seen it do so.",
        0.35,
      ),
      named(
        "demo-said-ledger",
        user(
          "The export is at fixtures/ledger/2026-03.csv. And remember that the ledger always wins over the invoice.",
        ),
      ),
      call(
        "bash",
        { command: "head -3 fixtures/ledger/2026-03.csv" },
        "id,net,vat,total\nA-1041,8750.00,1662.50,10412.50\nA-1042,8749.875,1662.476,10412.35",
        88,
      ),
      assistant(
        "That settles it. Line A-1042 has a total of `10412.351`, and:\n\n| rule | result |\n| --- | --- |\n| half up (ours) | 10412.36 |\n| half to even (ledger) | 10412.35 |\n\nSo we round *each line* half up, while the ledger rounds *once* and half to even.",
        0.93,
      ),
      named(
        "demo-decision-rounding",
        decision(
          "Use banker's rounding for all invoice totals",
          "the ledger does the same, and it wins where the two differ",
          0.94,
        ),
      ),
      call(
        "apply_patch",
        { path: "src/rounding.ts", patch },
        "Done: 1 file changed, 9 insertions(+), 4 deletions(-)",
        35,
      ),
      call(
        "bash",
        { command: "npm test -- rounding", cwd: "services/billing" },
        "✓ src/rounding.test.ts (12 tests) 48ms\n\n Test Files  1 passed (1)\n      Tests  12 passed (12)",
        2_310,
      ),
      named(
        "demo-answer-fixed",
        assistant(
          "Fixed: the totals agree with the ledger now, for all 412 March invoices. Credit notes use the same function.",
          0.95,
        ),
      ),
      feedback("demo-answer-fixed", 1, "checked ten of them by hand"),
      user("Good. Have the other places checked where we round, in parallel, while I get a coffee.", 120),
      assistant("I start a subagent that looks through `services/` for other rounding, and reports what it finds."),
      call(
        "task",
        { description: "Audit rounding", prompt: "List every place that rounds money." },
        "3 places, 1 of them wrong; see the subagent's session.",
        94_000,
      ),
      assistant(
        "The audit found three places:\n\n1. `services/billing/src/credit-note.ts`, right since the fix\n2. `services/reports/monthly.ts`, right: it never rounds\n3. `services/export/datev.ts`, **wrong**: it cuts instead of rounding\n\nShall I mend the third as well?",
        0.88,
      ),
      user("Yes, but in a commit of its own."),
      call(
        "apply_patch",
        {
          path: "services/export/datev.ts",
          patch:
            "--- a/services/export/datev.ts\n+++ b/services/export/datev.ts\n@@ -18,1 +18,1 @@\n-  const total = Math.trunc(cents) / 100;\n+  const total = roundCents(cents) / 100;\n",
        },
        "Done: 1 file changed",
        31,
      ),
      call(
        "bash",
        { command: "git commit -am 'Round in the DATEV export as the ledger does'" },
        "[main 4f2c9aa] Round in the DATEV export as the ledger does\n 1 file changed, 1 insertion(+), 1 deletion(-)",
        210,
      ),
      assistant("Committed as `4f2c9aa`.", 0.97),
    ],
  },
  {
    session_id: `${MARCH}/agent-audit`,
    parent: MARCH,
    project,
    client,
    days_ago: 4,
    at: "09:17",
    title: "Audit: every place that rounds money",
    steps: [
      user("List every place that rounds money. For each say whether it agrees with src/rounding.ts.", 0),
      call(
        "grep",
        { pattern: "Math\\.(round|trunc|floor)", path: "services" },
        "services/billing/src/credit-note.ts:31\nservices/reports/monthly.ts:12\nservices/export/datev.ts:18",
        122,
      ),
      call(
        "read_file",
        { path: "services/billing/src/credit-note.ts" },
        "import { roundCents } from './rounding.js'\n…",
        30,
      ),
      call("read_file", { path: "services/reports/monthly.ts" }, "const months = Math.floor(days / 30)\n", 28),
      call("read_file", { path: "services/export/datev.ts" }, "const total = Math.trunc(cents) / 100;\n", 26),
      assistant("Three places; `services/export/datev.ts` cuts where it should round. The other two are right.", 0.9),
    ],
  },
  {
    session_id: "atlas/deploy-friday",
    project,
    client,
    days_ago: 3,
    at: "16:40",
    title: "Deploy of the rounding fix fails twice",
    steps: [
      user("Deploy billing to staging.", 0),
      failed(
        "bash",
        { command: "make deploy ENV=staging" },
        "kubectl: error: You must be logged in to the server (Unauthorized)\nmake: *** [deploy] Error 1",
        4_800,
      ),
      error("deploy failed: Unauthorized", "make deploy ENV=staging"),
      assistant("The token for staging has run out. I will renew it and try again.", 0.71),
      call(
        "bash",
        { command: "make login ENV=staging" },
        "Logged in as ci-billing. Token: ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R",
        6_100,
      ),
      failed(
        "bash",
        { command: "make deploy ENV=staging" },
        "Error: migration 0042_rounding is locked by another run (pid 881)\nmake: *** [deploy] Error 1",
        31_000,
      ),
      error("deploy failed: migration 0042_rounding is locked by another run (pid 881)", "make deploy ENV=staging"),
      assistant(
        "Another run holds the lock. I am not sure whether it still lives; breaking the lock *might* corrupt the migration.",
        0.31,
      ),
      named(
        "demo-said-unlock",
        user("It is dead, I looked. From now on always run make unlock before a second deploy."),
      ),
      call(
        "bash",
        { command: "make unlock ENV=staging && make deploy ENV=staging" },
        "unlocked\nmigrated 0042_rounding\nrolled out billing 1.18.0 (3/3)",
        88_000,
      ),
      assistant("Deployed: billing 1.18.0 runs on staging, three of three instances.", 0.96),
      decision(
        "Run make unlock before every second deploy",
        "the lock of a dead run blocks the migration, and nobody sees it",
      ),
    ],
  },
  {
    session_id: "atlas/dunning",
    project,
    client,
    days_ago: 1,
    at: "11:05",
    title: "Reminders are sent twice",
    steps: [
      user("Since yesterday some customers get the same reminder twice. Why?", 0),
      assistant("I look at the queue of the reminders first.", 0.6),
      ...["A-1042", "A-1077", "A-1101", "A-1130", "A-1162", "A-1190", "A-1203"].map((id) =>
        call(
          "query",
          { q: `select * from reminders where invoice = '${id}'` },
          `2 rows: sent 08:00:01, sent 08:00:01`,
          44,
        ),
      ),
      failed(
        "query",
        { q: "select * from locks where name = 'dunning'" },
        'ERROR: relation "locks" does not exist',
        12,
      ),
      assistant(
        "Two workers take the same reminder in the same second: the job has no lock. The table `locks` that the README names was never made.",
        0.84,
      ),
      clear(),
      user("Then make the job idempotent instead of locking it. What is the smallest change?"),
      assistant(
        "A unique index on `(invoice, level)` and `insert … on conflict do nothing`:\n\n```sql\ncreate unique index reminders_once on reminders (invoice, level);\n```\n\nThe second worker then finds nothing to send.",
        0.9,
      ),
      named(
        "demo-decision-idempotent",
        decision(
          "Make reminders idempotent with a unique index, without a lock",
          "a lock can be left behind, an index cannot",
        ),
      ),
      call("bash", { command: "npm test -- dunning" }, "Tests  9 passed (9)", 3_400),
      assistant("Done, with a test in which two workers race.", 0.92),
    ],
  },
];
