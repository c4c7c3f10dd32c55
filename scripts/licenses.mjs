// The licenses of the packages that a bundle contains: they ask to go with every copy.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/**
 * @param {string} root
 * @param {string} dir Gets THIRD-PARTY-LICENSES.txt.
 * @param {import("rolldown").RolldownOutput} written
 */
export function writeLicenses(root, dir, { output }) {
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const folders = modules.flatMap((module) => PACKAGE.exec(module.replaceAll("\\", "/"))?.[0] ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => licenseOf(folder));
  if (texts.length === 0) throw new Error(`No package of ${root} is in the bundle.`);
  writeFileSync(join(dir, "THIRD-PARTY-LICENSES.txt"), `${texts.join(`\n${"-".repeat(80)}\n\n`)}`);
}

/** @param {string} folder */
function licenseOf(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^(?:licen[cs]e|copying)/i.test(entry));
  if (license === undefined) throw new Error(`${name} does not say under which license it is.`);
  const by = typeof author === "string" ? author : author?.name;
  const path = file === undefined ? undefined : join(folder, file);
  const text = path !== undefined && existsSync(path) ? readFileSync(path, "utf8").trim() : noticesOf(name, folder);
  return `${name} ${version} (${license}${by === undefined ? "" : `, ${by}`})\n\n${text}\n`;
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
    const end = lines.findIndex((line) => !line.startsWith("//"));
    return lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, ""));
  });
  return notices.map((lines) => lines.join("\n")).join("\n\n");
}
