// What no text of this repository contains: private words, paths of one machine, and tests that do not run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { listFiles } from "../../scripts/source-files.mjs";

/** Not checked: it names what it looks for. */
const SELF = "test/repo/text.test.ts";
const READABLE = /\.(?:tsx?|m[tj]s|js|json|md|ya?ml|sh|css|html|sql)$|^\.ci\//;
const files = listFiles(repositoryRoot).filter((file) => READABLE.test(file) && file !== SELF);

/** Each line with a match, as file:line and the match. */
function matches(pattern: RegExp, where: RegExp): readonly string[] {
  return files
    .filter((file) => where.test(file))
    .flatMap((file) =>
      readFileSync(join(repositoryRoot, file), "utf8")
        .split("\n")
        .flatMap((line, at) => {
          const match = pattern.exec(line)?.[0];
          return match === undefined ? [] : [`${file}:${at + 1}: ${match}`];
        }),
    );
}

/** Sample data in tests may hold such words. Schemas are stored in databases, and one word is part of hashed ids. */
const clean = {
  everywhere: /./,
  oddWords:
    /^(?:client|examples|scripts|ui)\/|^src\/(?!.*\.test\.ts$|engines\/.*-schema\.ts$|import\/claude-code\/claude-session\.ts$)/,
};

test("no private word is used where an engineer expects the term of the field", () => {
  expect(
    matches(/wish|onlooker|obedience|leisure|patience|\bbreath|letGo|\bshelf|\bdesk\b/i, clean.everywhere),
  ).toEqual([]);
});

test("no phrase that readers had to read twice is left", () => {
  const phrases = [
    "given good bad|what was said of it|nobody gets in|without its other half|nothing of it is kept",
    "is none of the keys|is nothing that can be done|the index anew from|Ctrl-C stops it|Go on with `",
  ];
  expect(matches(new RegExp(phrases.join("|"), "i"), clean.everywhere)).toEqual([]);
});

test("the sources speak plainly", () => {
  const words = [
    ", so that|\\banew\\b|\\bwhoever\\b|\\bbeside\\b|\\bmend(?:s|ed)?\\b|\\blies\\b|of which|\\bis told\\b|rests on",
    "that it may be|stands for is|\\bwhereof\\b|\\bthereof\\b|keeps nobody|nobody else|to nobody|goes on remembering",
    "waits? for a verdict|does nothing beside|to do with memories|is not done through|opens nothing|no longer wanted",
    "nobody recorded|lay before|is not known|shows what there is",
  ];
  expect(matches(new RegExp(words.join("|"), "i"), clean.oddWords)).toEqual([]);
});

test("no path of one machine is in any file", () => {
  expect(matches(/(?<![\w.~-])\/(?:work|root|(?:home|Users)\/[\w.-]+)\//, /./)).toEqual([]);
});

test("no work is left to do in a comment", () => {
  expect(matches(/\b(?:TODO|FIXME|XXX)\b/, /^(?:src|client|ui|test|bench|scripts)\//)).toEqual([]);
});

test("every test runs, always", () => {
  const switches = /\.(?:only|skip|todo|skipIf|runIf)\(|\b(?:only|skip|todo): true/;
  expect(matches(switches, /\.test(?:-d)?\.tsx?$|^test\//)).toEqual([]);
});

test("the lockfile names no registry, and every optional package of every platform", () => {
  const text = readFileSync(join(repositoryRoot, "package-lock.json"), "utf8");
  expect(text).not.toMatch(/"resolved": *"[a-z+]+:/);
  const { packages } = JSON.parse(text) as {
    readonly packages: { readonly [path: string]: { readonly optionalDependencies?: object } };
  };
  const locked = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, "")));
  const optional = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}));
  expect(optional.filter((name) => !locked.has(name))).toEqual([]);
});
