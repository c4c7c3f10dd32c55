// What the recorder's calls take: an option that does not exist is refused, with the one that was meant.

import type { ImportOptions } from "../import/import-files.js";
import type { RetentionOptions, ScrubOptions } from "../log/forgetting/forgotten.js";
import type { SealKeepingOptions } from "../log/seals/seal-keeping.js";
import type { LearningOptions } from "../memories/background/learning.js";
import { knownOptions, optionNames } from "../model/options.js";
import type { Seal } from "../model/verification.js";
import { optionNamesOf, type QuestionName, questionRules } from "../search/question-rules.js";

export interface VerifyOptions {
  /** A seal, or its text. */
  readonly against?: Seal | string | undefined;
}

export interface AcceptLogOptions {
  /** Who accepts it, for the record: `person` by default. */
  readonly actor?: string | undefined;
}

export interface RebuildIndexOptions {
  readonly onProgress?: ((position: number) => void) | undefined;
}

/** What the calls that are no questions take. */
export const optionTables = {
  import: optionNames<ImportOptions>({
    format: true,
    timezone: true,
    as_new: true,
    stdin: true,
    onProgress: true,
    onFile: true,
  }),
  verify: optionNames<VerifyOptions>({ against: true }),
  retain: optionNames<RetentionOptions>({ rules: true, dry_run: true, actor: true }),
  scrub: optionNames<ScrubOptions>({ reason: true, dry_run: true, actor: true }),
  acceptLog: optionNames<AcceptLogOptions>({ actor: true }),
  keepSeals: optionNames<SealKeepingOptions>({ every_ms: true, onTrouble: true }),
  learn: optionNames<LearningOptions>({
    onTrouble: true,
    gather_ms: true,
    model: true,
    daily_tokens: true,
    look_ms: true,
  }),
  rebuildIndex: optionNames<RebuildIndexOptions>({ onProgress: true }),
};

/** The options of a question, refused where there is no such option. */
export function known<O extends object>(question: QuestionName, options: O): O {
  return knownOptions(options, questionOptions[question]);
}

/** What is asked for is an argument of its own in a search; an export also has somebody who asks for it. */
const questionOptions: { readonly [Q in QuestionName]: readonly string[] } = {
  ...mapNames(Object.keys(questionRules) as readonly QuestionName[]),
  search: optionNamesOf("search").filter((name) => name !== "q"),
  export: [...optionNamesOf("export"), "actor", "onUnaudited"],
};

function mapNames(questions: readonly QuestionName[]): { readonly [Q in QuestionName]: readonly string[] } {
  const named = questions.map((question) => [question, optionNamesOf(question)]);
  return Object.fromEntries(named) as { readonly [Q in QuestionName]: readonly string[] };
}
