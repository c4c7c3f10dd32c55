// Whether a statement names a path or a program: then it belongs to a project, not to a person.
import { particularsOf } from "../../judge/particulars.js";

const PROGRAMS =
  "npm npx pnpm yarn bun deno node tsc vite vitest jest eslint prettier biome webpack rollup git gh glab docker podman " +
  "compose kubectl helm terraform ansible make cmake ninja gcc clang cargo rustc rustup go gofmt python python3 pip pipx " +
  "poetry uv pytest mypy ruff black tox ruby bundler rails rake php composer java maven mvn gradle kotlin swift " +
  "xcodebuild dotnet nuget bash zsh curl wget ssh rsync systemctl psql mysql sqlite redis postgres postgresql kafka " +
  "nginx playwright cypress storybook turbo lerna nx sbt mix elixir stack cabal nix brew apt";
const names = new Set(PROGRAMS.split(" "));
const COMMON_WORDS = new Set("go make ruby swift helm stack mix elixir rake turbo black composer rust apt".split(" "));

/** TypeScript and GmbH are names, but no paths or programs. */
const IS_NAME = /^\p{L}+$/u;
const IS_NUMBER = /^[\p{Nd}.,:%-]+\p{L}{0,3}$/u;
const WORDS = /[a-z][a-z0-9]+/g;

/** Whether it names a program whose name is no common word. */
export function namesProgram(statement: string): boolean {
  return wordsOf(statement).some((word) => names.has(word) && !COMMON_WORDS.has(word));
}

export function namesTool(statement: string): boolean {
  if (particularsOf(statement).some((particular) => !IS_NUMBER.test(particular) && !IS_NAME.test(particular)))
    return true;
  return wordsOf(statement).some((word) => names.has(word));
}

function wordsOf(statement: string): readonly string[] {
  return statement.toLowerCase().match(WORDS) ?? [];
}
