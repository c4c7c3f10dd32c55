// `hansard forget`, `hansard retention` and `hansard scrub`: what removes entries for good. Without --yes they only show what would go.
import type { Command } from "commander";
import type { Forgotten, Retained, RetentionRule, Scrubbed } from "../../../index.js";
import { captureKinds } from "../../../model/kinds.js";
import {
  type CommandModule,
  helpText,
  type Invocation,
  printResult,
  systemUser,
  textOptions,
  withProgress,
  withRecorder,
} from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { sessionIdFor } from "../named-session.js";
import { countOf, formatCount } from "../text/table.js";
import { cleanLine, type Pane } from "../text/terminal.js";

export const forgetCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--entry <id>", "an entry, by id or position, with the response that completed it")
      .option("--session <id>", "everything in a session")
      .option("--project <name>", "everything in a project")
      .option("--reason <text>", "why; it stays in the log, so do not repeat what is to be forgotten")
      .option("--yes", "forget; without this, only show what would go")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            `The bodies of the entries are erased from the files for good. The hash chain stays intact, and a redaction entry lists
the erased positions. Earlier copies (backups, exports) are not changed.`,
          ],
          [
            ["show what would go", 'hansard forget --session cli:anna --reason "Anna asked us to"'],
            ["forget it", 'hansard forget --session cli:anna --reason "Anna asked us to" --yes'],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { options } = invocation;
    const { entry, session, project, reason = "" } = textOptions(options, OPTION_NAMES);
    if ([entry, session, project].filter((one) => one !== undefined).length !== 1) throw targetMissing();
    if (reason.trim() === "") throw reasonMissing();
    const dry_run = options.yes !== true;
    const forgotten = await withProgress(invocation, (progress) => {
      if (!dry_run) progress.show("Forgetting …");
      return withRecorder(invocation, { create: false }, async (recorder) => {
        const session_id = session === undefined ? undefined : await sessionIdFor(recorder, session);
        return recorder.forget({ entry, session_id, project, reason, dry_run, actor: systemUser() });
      });
    });
    printResult(invocation, forgotten, forgottenText);
    return exitStatus.done;
  },
};

const OPTION_NAMES = ["entry", "session", "project", "reason"] as const;

function targetMissing(): WrongUse {
  return new WrongUse({
    code: "option_invalid",
    field: "--entry",
    message: "give exactly one of --entry, --session, --project",
  });
}

function reasonMissing(): WrongUse {
  return new WrongUse({
    code: "option_invalid",
    field: "--reason",
    message: "--reason is required",
    hint: "Say why, without repeating what is to be forgotten: the reason stays in the log.",
  });
}

export const retentionCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--older-than <age>", "an age (90d, 12w) or a date: entries created before that")
      .option("--kind <kind>", `only this kind: ${captureKinds.join(", ")}; without it, all of these`)
      .option("--yes", "forget; without this, only show what would go")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            "Without --older-than it uses the rules of your settings file:",
            '  {"retention": [{"kind":"tool_call","older_than":"90d"},{"older_than":"104w"}]}',
            "Rules do not run by themselves: run this command from cron or a timer.",
          ],
          [
            ["show what would go", "hansard retention --kind tool_call --older-than 90d"],
            ["apply the configured rules, for example every night", "hansard retention --yes"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { options, settings } = invocation;
    const { kind, olderThan: older_than } = textOptions(options, ["kind", "olderThan"] as const);
    if (kind !== undefined && older_than === undefined) throw ageMissing();
    const rules: readonly RetentionRule[] = older_than === undefined ? settings.retention : [{ kind, older_than }];
    const dry_run = options.yes !== true;
    const retained = await withProgress(invocation, (progress) => {
      progress.show("Looking for old entries …");
      return withRecorder(invocation, { create: false }, (recorder) =>
        recorder.retain({ rules, dry_run, actor: systemUser() }),
      );
    });
    printResult(invocation, retained, retainedText);
    return exitStatus.done;
  },
};

function retainedText({ rules }: Retained, pane: Pane): string {
  if (rules.length === 0) return "No rules. Give one with --older-than, or in your settings file.\n";
  return rules
    .map((rule) => `${rule.kind ?? "every kind"} older than ${rule.older_than}\n${forgottenText(rule, pane)}`)
    .join("");
}

function ageMissing(): WrongUse {
  return new WrongUse({
    code: "option_invalid",
    field: "--older-than",
    message: "--kind needs --older-than",
    hint: "For example --kind tool_call --older-than 90d.",
  });
}

export const scrubCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--reason <text>", "why; it stays in the log")
      .option("--yes", "forget the entries; without this, only list them")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            `Secrets are well-known tokens and the values given with --mask-file. None is printed, unless it is part of an entry's
id. Revoke a secret that was recorded: forgetting the entry does not make it safe again.`,
          ],
          [
            ["list entries that contain secrets", "hansard scrub"],
            ["forget them", "hansard scrub --yes"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { options } = invocation;
    const dry_run = options.yes !== true;
    const scrubbed = await withProgress(invocation, (progress) => {
      progress.show("Looking for secrets …");
      return withRecorder(invocation, { create: false }, (recorder) =>
        recorder.scrub({ dry_run, actor: systemUser(), ...textOptions(options, ["reason"]) }),
      );
    });
    printResult(invocation, scrubbed, scrubbedText);
    return exitStatus.done;
  },
};

function scrubbedText(scrubbed: Scrubbed, pane: Pane): string {
  const { bold, dim } = pane.colours;
  if (scrubbed.findings.length === 0) return "No secrets found.\n";
  const lines = scrubbed.findings.map(({ position, kind, id, secrets }) => {
    return `${bold(`#${position}`)}  ${kind}  ${cleanLine(id)}  ${dim(secrets.join(", "))}\n`;
  });
  return `${lines.join("")}${forgottenText(scrubbed, pane)}`;
}

function forgottenText(forgotten: Forgotten, pane: Pane): string {
  const { bold, green, yellow, dim } = pane.colours;
  const { entries, by_kind, redaction, left, dry_run } = forgotten;
  if (entries === 0) return "Nothing to forget.\n";
  const kinds = Object.entries(by_kind).map(([kind, count]) => `${formatCount(count)} ${kind}`);
  const what = `${countOf(entries, "entry", "entries")}${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}`;
  if (dry_run) return `${bold(yellow("Would forget:"))} ${what}\n${dim("Nothing was changed. Add --yes to forget.")}\n`;
  const rest = left.map((words) => `${yellow("!")} ${words}\n`).join("");
  return `${bold(green("Forgotten:"))} ${what}; #${redaction} records that\n${rest}`;
}
