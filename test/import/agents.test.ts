// Transcripts that real agents wrote against a scripted model: what was recorded of them agrees with what the model server saw.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sharedData } from "../support/fixtures.js";
import { agentsIn, compareAgent } from "./agents.js";

const folder = sharedData("agents");
const agents = folder === undefined ? [] : agentsIn(folder);

/**
 * What differs, by agent: tokens of compactions are in no transcript of these versions.
 */
const DIFFERS: { readonly [agent: string]: readonly string[] } = {
  "claude-code-2.1.197": ["tokens of compactions"],
  "gemini-cli-0.61.0": ["tokens of compactions"],
  "pi-0.73.1": ["tokens of compactions"],
};

describe("an agent's own transcript", () => {
  test.each(agents)("%s agrees with what the model server saw", async (agent) => {
    const { problems } = await compareAgent(join(folder as string, agent));
    const known = DIFFERS[agent] ?? [];
    const unexpected = Object.entries(problems).filter(([check]) => !known.includes(check));
    expect(Object.fromEntries(unexpected)).toEqual({});
    // What agrees by now has to leave the list.
    expect(known.filter((check) => !(check in problems))).toEqual([]);
  });
});

test("the list names only agents that are there", () => {
  if (folder === undefined) return;
  expect(Object.keys(DIFFERS).filter((agent) => !agents.includes(agent))).toEqual([]);
  expect(readFileSync(join(folder, "MANIFEST.md"), "utf8")).toContain("truth.json");
});
