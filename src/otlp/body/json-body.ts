// OTLP's JSON. A large body is taken apart before it is parsed, and its spans are parsed one by one: other requests run in
// between, and a request of any width needs little memory.
import { isUtf8 } from "node:buffer";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { JsonTokenizer, type JsonVisitor } from "../../model/json-tokenizer.js";
import { limits } from "../../model/limits.js";
import { nestingTooDeep, Rejection, reject } from "../../model/rejection.js";
import { TimeSlice } from "../../model/scheduling.js";
import {
  ITEMS_MAX,
  notOtlp,
  type OnReceived,
  otherSignalIn,
  type Received,
  type Signal,
  signalNames,
  tooManyItems,
} from "./signals.js";

/** Smaller bodies are parsed at once. */
const WHOLE_BYTES_MAX = 512 * 1024;
/** Bytes that are looked at in one go. */
const STEP_BYTES = 256 * 1024;
/** The levels around a span: its trace request, resource and scope, each in a list. */
const LEVELS_AROUND = 6;

export async function readJson(bytes: Buffer, signal: Signal, onReceived: OnReceived): Promise<Rejection | undefined> {
  if (!isUtf8(bytes)) return reject({ code: "utf8_invalid", message: "the body is not valid UTF-8" });
  const split = bytes.length <= WHOLE_BYTES_MAX ? undefined : await splitItems(bytes, signal);
  if (split instanceof Rejection) return split;
  const text = (split?.frame ?? bytes).toString("utf8");
  if (text.trim() === "") return reject({ code: "body_missing", message: "the request has no body" });
  const frame = parse(text);
  if (frame instanceof Rejection) return frame;
  if (!isJsonObject(frame)) return notOtlp("it must be a JSON object");
  const other = otherSignalIn(frame, signal);
  if (other !== undefined) return other;
  return walk(frame, { signal, onReceived, itemAt: split && ((nth) => split.items[nth]) });
}

/** An item of the list, or where the split left it. */
interface Walk {
  readonly signal: Signal;
  readonly onReceived: OnReceived;
  readonly itemAt: ((nth: number) => Buffer | undefined) | undefined;
}

async function walk(frame: JsonObject, { signal, onReceived, itemAt }: Walk): Promise<Rejection | undefined> {
  const names = signalNames[signal];
  const slice = new TimeSlice();
  let count = 0;
  for (const outer of listIn(frame, names.resources)) {
    if (!isJsonObject(outer)) return notOtlp(`${names.resources} must be a list of objects`);
    for (const inner of listIn(outer, names.scopes)) {
      if (!isJsonObject(inner)) return notOtlp(`${names.scopes} must be a list of objects`);
      const around = {
        signal,
        resource: objectIn(outer, "resource"),
        resource_schema_url: textIn(outer, "schemaUrl"),
        scope: objectIn(inner, "scope"),
        scope_schema_url: textIn(inner, "schemaUrl"),
      };
      for (const found of listIn(inner, names.items)) {
        const bytes = itemAt === undefined ? undefined : itemAt(found as number);
        const item = bytes === undefined ? found : parse(bytes.toString("utf8"));
        if (item instanceof Rejection) return item;
        count += 1;
        if (count > ITEMS_MAX) return tooManyItems(signal);
        if (!isJsonObject(item)) return notOtlp(`${names.items} must be a list of objects`);
        const received: Received = { ...around, item };
        if (!(await onReceived(received))) return undefined;
        if (slice.isOver) await slice.next();
      }
    }
  }
  return undefined;
}

function listIn(object: JsonObject, name: string): readonly JsonValue[] {
  const list = object[name];
  return Array.isArray(list) ? list : [];
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

function textIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === "string" ? value : "";
}

function parse(text: string): JsonValue | Rejection {
  try {
    return JSON.parse(withoutWideNumbers(text)) as JsonValue;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return reject({ code: "json_invalid", message: `the body is not valid JSON: ${reason.slice(0, 200)}` });
  }
}

/** Times and counts above 2^53 written as numbers. The quote before the colon cannot be inside of a string. */
const WIDE_NUMBER = /"(\w*[tT]imeUnixNano|intValue)"(\s*:\s*)(-?\d{16,20})(?=\s*[,}\]])/g;
const MAYBE_WIDE = /(?:UnixNano|intValue)"\s*:\s*-?\d{16}/;

/** JSON.parse would make doubles of them. */
function withoutWideNumbers(text: string): string {
  return MAYBE_WIDE.test(text) ? text.replace(WIDE_NUMBER, '"$1"$2"$3"') : text;
}

interface SplitBody {
  /** The document, with a number in the place of each item. */
  readonly frame: Buffer;
  readonly items: readonly Buffer[];
}

async function splitItems(bytes: Buffer, signal: Signal): Promise<SplitBody | Rejection> {
  const splitter = new ItemSplitter(bytes, signal);
  const slice = new TimeSlice();
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    splitter.take(at, Math.min(at + STEP_BYTES, bytes.length));
    if (splitter.refused !== undefined) return splitter.refused;
    if (slice.isOver) await slice.next();
  }
  return splitter.finish();
}

class ItemSplitter implements JsonVisitor {
  refused: Rejection | undefined;
  readonly #bytes: Buffer;
  readonly #signal: Signal;
  readonly #path: readonly string[];
  readonly #tokenizer = new JsonTokenizer(this);
  readonly #items: Buffer[] = [];
  readonly #frame: Buffer[] = [];
  /** The last string, which a colon makes a key. */
  #string: readonly [start: number, end: number] = [0, 0];
  /** The keys that led here, by the depth of their object. */
  readonly #keys = new Map<number, string>();
  #from = 0;
  #framedThrough = 0;
  #itemStart: number | undefined;
  #isInList = false;

  constructor(bytes: Buffer, signal: Signal) {
    this.#bytes = bytes;
    this.#signal = signal;
    const { resources, scopes, items } = signalNames[signal];
    this.#path = [resources, scopes, items];
  }

  take(from: number, to: number): void {
    this.#from = from;
    this.#tokenizer.write(this.#bytes, from, to);
  }

  finish(): SplitBody {
    this.#frame.push(this.#bytes.subarray(this.#framedThrough));
    return { frame: Buffer.concat(this.#frame), items: this.#items };
  }

  string(start: number, end: number): void {
    this.#string = [start < 0 ? this.#from + start : start, end];
  }

  colon(): void {
    const { depth } = this.#tokenizer;
    if (depth >= LEVELS_AROUND || depth % 2 === 0) return;
    const [start, end] = this.#string;
    this.#keys.set(depth, end - start > KEY_BYTES_MAX ? "" : this.#bytes.toString("latin1", start + 1, end - 1));
  }

  begin(at: number, isObject: boolean): void {
    const { depth } = this.#tokenizer;
    if (depth > limits.nesting_levels + LEVELS_AROUND) this.#refuse(nestingTooDeep());
    if (!isObject && depth === LEVELS_AROUND) {
      this.#isInList = this.#path.every((name, nth) => this.#keys.get(2 * nth + 1) === name);
    }
    if (this.#isInList && isObject && depth === LEVELS_AROUND + 1) this.#itemStart = at;
  }

  end(at: number): void {
    const { depth } = this.#tokenizer;
    if (depth === LEVELS_AROUND) this.#isInList = false;
    if (depth !== LEVELS_AROUND + 1 || this.#itemStart === undefined) return;
    if (this.#items.length >= ITEMS_MAX) this.#refuse(tooManyItems(this.#signal));
    this.#frame.push(this.#bytes.subarray(this.#framedThrough, this.#itemStart), Buffer.from(`${this.#items.length}`));
    this.#items.push(this.#bytes.subarray(this.#itemStart, at + 1));
    this.#framedThrough = at + 1;
    this.#itemStart = undefined;
  }

  #refuse(refused: Rejection): void {
    this.refused ??= refused;
    this.#tokenizer.stop();
  }
}

const KEY_BYTES_MAX = 32;
