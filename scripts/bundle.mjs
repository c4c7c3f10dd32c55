// Bundles what the package is entered by into few files in dist/bundle: loading hundreds of modules would take most of the
// time that a short command runs, and every thread loads its own again. Packages stay outside, except typebox, which has hundreds
// of files, and those that are hardly used: one encoding of 2 MB from gpt-tokenizer's 30 MB, and from the lists of stop words
// and the stemmers a tenth.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { dataFiles } from "./source-files.mjs";

const CODE = /\/src\/.*\.ts$/;
const bundledPackages = [
  ...["gpt-tokenizer", "marked", "stopword", "@orama/stopwords", "@orama/stemmers", "@bufbuild/protobuf"],
];
const options = {
  platform: /** @type {const} */ ("node"),
  external: new RegExp(`^(?!typebox$|(?:${bundledPackages.join("|")})(?:/|$))[^./]`),
  transform: { target: "node20" },
};

/** @param {string} root */
export async function bundle(root) {
  const threads = ["checkpoint", "log", "purge", "read", "tail"].map((name) => [`${name}-thread`, threadSource(name)]);
  const input = {
    index: "src/index.ts",
    conformance: "test/conformance/index.ts",
    main: "src/surfaces/cli/main.ts",
    ...Object.fromEntries(threads),
  };
  const shared = await rolldown({ ...options, cwd: root, input });
  const output = { dir: join(root, "dist", "bundle"), sourcemap: true };
  await shared.write({
    ...output,
    cleanDir: true,
    chunkFileNames: "[name].js",
    codeSplitting: {
      groups: [
        // All that `hansard --version` loads.
        { name: "version", test: /\/(?:cli\/version|model\/files)\.ts$/, priority: 1 },
        { name: "shared", test: CODE, minShareCount: 4 },
      ],
    },
  });
  copyLicenses(root, output.dir);
  for (const file of dataFiles) copyFileSync(join(root, file), join(output.dir, basename(file)));
  // Threads that write run with every capture and every erasure, and need a tenth of the shared code: bundled alone they start sooner
  // and take less memory.
  // They are built with the others anyway, so shared code stays in one file.
  for (const input of [...["checkpoint", "log", "purge"].map(threadSource), "src/import/foreign-database-process.ts"]) {
    const alone = await rolldown({ ...options, cwd: root, input });
    await alone.write({ ...output, codeSplitting: false });
  }
}

/**
 * Their licenses ask to go with every copy.
 *
 * @param {string} root
 * @param {string} dir
 */
function copyLicenses(root, dir) {
  for (const name of bundledPackages) {
    const folder = join(root, "node_modules", name);
    const license = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    const target = join(dir, `LICENSE.${name.replace("/", "-").replace("@", "")}`);
    if (license !== undefined) copyFileSync(join(folder, license), target);
    else writeFileSync(target, noticesOf(name, folder));
  }
}

/** Files whose first comments are their license, of packages that have it nowhere else. */
const noticeFiles = { "@bufbuild/protobuf": ["dist/esm/wire/binary-encoding.js", "dist/esm/wire/varint.js"] };

/**
 * @param {string} name
 * @param {string} folder
 */
function noticesOf(name, folder) {
  const files = name in noticeFiles ? noticeFiles[/** @type {keyof typeof noticeFiles} */ (name)] : [];
  const notices = files.map((file) => {
    const lines = readFileSync(join(folder, file), "utf8").split("\n");
    const comment = lines.slice(
      0,
      lines.findIndex((line) => !line.startsWith("//")),
    );
    return comment.map((line) => line.replace(/^\/\/ ?/, "")).join("\n");
  });
  if (notices.join("").trim() === "") throw new Error(`${name} has no license file.`);
  return `${notices.join("\n\n")}\n`;
}

/** @param {string} name */
function threadSource(name) {
  return `src/threads/${name}-thread.ts`;
}
