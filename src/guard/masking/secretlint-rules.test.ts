// The token shapes compared with a rule set that others maintain: what secretlint's recommended rules report is masked
// too.
import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import { expect, test } from "vitest";
import { createMask } from "./mask.js";

interface Report {
  readonly range: readonly [start: number, end: number];
}

/** The used part of a rule; its own types come with a package that nothing else here needs. */
interface YardstickRule {
  readonly meta: { readonly id: string };
  create(context: object, options: object): { file?(source: object): unknown };
}

const mask = createMask();
/** Assembled at run time, so repository scanners do not report this file. */
const letters = (count: number, from = "aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uVwXyZ"): string =>
  from.repeat(Math.ceil(count / from.length)).slice(0, count);
const hex = (count: number): string => letters(count, "0a1b2c3d4e5f6789");
const block = (label: string): string =>
  `-----BEGIN ${label}-----\n${letters(64)}\n${letters(64)}\n-----END ${label}-----`;

const samples = [
  ...[`AKIA${letters(16, "IOSF2DNN7QXQMPLE")}`, `AWS_SECRET_ACCESS_KEY=${letters(40)}`],
  ...[block("RSA PRIVATE KEY"), JSON.stringify({ type: "service_account", private_key: block("PRIVATE KEY") })],
  ...[`//registry.npmjs.org/:_authToken=npm_${letters(36)}`, `npm_${letters(36)}`],
  ...["https://user:pa55word@example.com/x", "postgresql://app:s3cretpw@db.example.com:5432/app"],
  ...["mysql://app:s3cretpw@db.example.com:3306/app", "mongodb+srv://app:s3cretpw@cluster.example.com/app"],
  ...[
    `xoxb-123456789012-1234567890123-${letters(24)}`,
    `https://hooks.slack.com/services/T12345678/B12345678/${letters(24)}`,
  ],
  ...["shpat_", "shpca_", "shppa_", "shpss_"].map((prefix) => prefix + hex(32)),
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((prefix) => prefix + letters(36)),
  ...[`github_pat_${letters(22)}_${letters(59)}`, `SG.${letters(22)}.${letters(43)}`, `lin_api_${letters(40)}`],
  ...[`sk-${letters(20)}T3BlbkFJ${letters(20)}`, `sk-proj-${letters(74)}T3BlbkFJ${letters(74)}`],
  ...[`sk-ant-api03-${letters(93)}AA`, `ops_eyJ${letters(250)}`],
];

test("everything that secretlint reports as a secret is masked", async () => {
  const reporting = new Set<string>();
  const left: string[] = [];
  for (const text of samples) {
    const spans = mask.find(text);
    for (const rule of rules as unknown as readonly YardstickRule[]) {
      for (const { range } of await reportsOf(rule, text)) {
        reporting.add(rule.meta.id);
        if (!spans.some(({ start, end }) => start < range[1] && end > range[0])) left.push(`${rule.meta.id}: ${text}`);
      }
    }
  }
  expect(left).toEqual([]);
  expect(reporting.size).toBeGreaterThanOrEqual(10);
});

async function reportsOf(rule: YardstickRule, content: string): Promise<readonly Report[]> {
  const reports: Report[] = [];
  const context = {
    sharedOptions: {},
    createTranslator: () => (messageId: string) => ({ message: messageId, messageId }),
    report: (report: Report) => reports.push(report),
    ignore: () => undefined,
  };
  const source = { content, contentType: "text", filePath: ".npmrc", ext: ".npmrc", hasBOM: false };
  await rule.create(context, {}).file?.(source);
  return reports;
}
