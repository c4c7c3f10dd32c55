// Reads a transcript of lines: what each line becomes, and what a reading that resumes later has to know.
import type { JsonObject } from "../../model/json.js";
import type { ImportSource, ImportStep, SourceRecord } from "../importer.js";

export interface LineReader {
  take(line: number, record: JsonObject): Iterable<ImportStep>;
  /** What is still open at the end of the last complete line. */
  end(): Iterable<ImportStep>;
  /** Plain data from which the reader is made again. */
  state(): unknown;
}

export async function* readWith(source: ImportSource, reader: LineReader): AsyncGenerator<Iterable<ImportStep>> {
  source.resume.onSave(() => reader.state());
  for await (const records of source.records()) yield takeAll(reader, records);
  yield reader.end();
}

function* takeAll(reader: LineReader, records: Iterable<SourceRecord>): Generator<ImportStep> {
  for (const item of records) {
    if ("reason" in item) yield item;
    else yield* reader.take(item.line, item.record);
  }
}
