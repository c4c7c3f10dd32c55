// What a source is, by its beginning: lines, one document, or a database.
import type { JsonObject } from "../model/json.js";
import { firstValue } from "./document.js";
import type { Opening, TableColumns } from "./importer.js";
import { EXPORTED_LEVELS_MAX, isOpenAt, oneByOne, readRecords } from "./lines.js";
import type { OpenedFile } from "./source-files.js";

/** More of a document says nothing new about its format. */
const DOCUMENT_BYTES = 64 * 1024;

export async function readOpening(
  name: string,
  { opened, tables }: { readonly opened: OpenedFile; readonly tables: TableColumns | undefined },
): Promise<Opening> {
  const { opening: bytes } = opened;
  if (tables !== undefined) return { name, bytes, records: [], document: undefined, is_one_value: false, tables };
  // The last line may go on beyond; a file that ends here has it whole.
  const end = bytes.length === opened.size ? bytes.length : bytes.lastIndexOf(0x0a) + 1;
  const records: JsonObject[] = [];
  // A line may tell the format although that format will not take it.
  const items = readRecords(once(bytes.subarray(0, end === 0 ? bytes.length : end)), EXPORTED_LEVELS_MAX);
  let count = 0;
  let isFirstWhole = false;
  for await (const item of oneByOne(items)) {
    const isFirst = count === 0;
    count += 1;
    if (!("record" in item)) continue;
    isFirstWhole ||= isFirst;
    records.push(item.record);
  }
  const first = firstValue(bytes.subarray(0, DOCUMENT_BYTES));
  const isOneValue = first?.is_one_value === true && !isFirstWhole && isContinued(bytes, bytes.indexOf(0x0a));
  return {
    name,
    bytes,
    records: isOneValue ? [] : records,
    document: first?.value,
    is_one_value: isOneValue,
    tables: undefined,
  };
}

/** Whether what begins in the first line goes on in the next one, which a line that is too deep or torn does not. */
function isContinued(bytes: Buffer, end: number): boolean {
  if (end === -1) return false;
  // A shorter one was parsed, and is known not to end there.
  return end < DOCUMENT_BYTES || isOpenAt(bytes.subarray(0, end));
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
