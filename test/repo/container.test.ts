// The image is built from the clone and holds what the package would hold; there is no Docker to build it with where tests run.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";

const read = (file: string): string => readFileSync(join(repositoryRoot, file), "utf8");
const dockerfile = read("Dockerfile");
const { bin, files, scripts } = JSON.parse(read("package.json")) as {
  readonly bin: { readonly hansard: string };
  readonly files: readonly string[];
  readonly scripts: { readonly [name: string]: string };
};

test("what runs in the image is what the package ships, and all of it is there", () => {
  const copied = [...dockerfile.matchAll(/^COPY --from=build \/hansard\/(\S+) (\S+)$/gm)];
  for (const [, from = "", to] of copied) {
    expect(existsSync(join(repositoryRoot, from)), from).toBe(true);
    expect([to, `./${from}`]).toContain(from === "package.json" ? "./" : to);
  }
  // Types are for those who compile.
  const shipped = files.filter((file) => !file.startsWith("!") && !/^docs$|\.md$|\.d\.ts$/.test(file));
  expect(copied.map(([, from]) => from).sort()).toEqual(["node_modules", "package.json", ...shipped].sort());
  expect(dockerfile).toContain(`ln -s /hansard/${bin.hansard} /usr/local/bin/hansard`);
});

test("the build uses scripts that there are, and files that it is given", () => {
  const ignored = read(".dockerignore").split("\n");
  for (const [, name = ""] of dockerfile.matchAll(/npm run (\S+)/g)) expect(scripts).toHaveProperty(name);
  for (const [, list = ""] of dockerfile.matchAll(/^COPY (?!--)(.+) \.\/$/gm)) {
    for (const file of list.split(" ")) {
      expect(existsSync(join(repositoryRoot, file)), file).toBe(true);
      expect(ignored).not.toContain(file);
    }
  }
  for (const folder of ["scripts", "src", "test"]) expect(ignored).not.toContain(folder);
});

test("the compose file builds it, and nothing of it has to be published", () => {
  expect(read("compose.yaml")).toMatch(/^ {2}hansard:\n {4}build: \.$/m);
  expect(read("compose.yaml")).not.toContain("npx");
});
