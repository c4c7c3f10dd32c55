// OTLP's protobuf, read into the form that its JSON has. Only the wire format's reader is from the library: it builds no
// messages, and is as fast as JSON.parse; see docs/decisions.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject, JsonValue } from "../../model/json.js";
import { limits } from "../../model/limits.js";
import { entryTooWide, nestingTooDeep, type Rejection } from "../../model/rejection.js";
import { TimeSlice } from "../../model/scheduling.js";
import { ITEMS_MAX, notOtlp, type OnReceived, type Signal, tooManyItems } from "./signals.js";

/** How a field is read, and where it goes. */
type ReadField = (reader: BinaryReader, into: Message, budget: Budget) => void;
type Fields = { readonly [number: number]: { readonly wire: WireType; readonly read: ReadField } };
type Message = { [name: string]: JsonValue };

/** What is left of an item's limits: hostile bytes may be all brackets. */
interface Budget {
  values: number;
  levels: number;
}

export async function readProtobuf(
  bytes: Buffer,
  signal: Signal,
  onReceived: OnReceived,
): Promise<Rejection | undefined> {
  try {
    return await walk(new BinaryReader(bytes), signal, onReceived);
  } catch (error) {
    if (error instanceof Refusal) return error.rejection;
    // The reader throws these for bytes that end too early, and for wire types and lengths that do not exist.
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    const looksLikeJson = bytes[0] === 0x7b || bytes[0] === 0x5b;
    const hint = looksLikeJson ? "; it looks like JSON, which is announced as content-type: application/json" : "";
    return notOtlp(`it is not valid protobuf (${error.message.slice(0, 100)})${hint}`);
  }
}

async function walk(reader: BinaryReader, signal: Signal, onReceived: OnReceived): Promise<Rejection | undefined> {
  const slice = new TimeSlice();
  let count = 0;
  for (const outer of messagesIn(reader, 1)) {
    const { found: scopes, rest } = partsOf(reader, outer, resourceFields);
    const { resource = {}, schemaUrl: resource_schema_url = "" } = rest;
    for (const inner of scopes) {
      const { found: items, rest: own } = partsOf(reader, inner, scopeFields);
      const { scope = {}, schemaUrl: scope_schema_url = "" } = own;
      for (const place of items) {
        const item = readMessage(reader, place, itemFields[signal], newBudget());
        count += 1;
        if (count > ITEMS_MAX) return tooManyItems(signal);
        const received = {
          signal,
          item,
          resource: resource as JsonObject,
          resource_schema_url: resource_schema_url as string,
          scope: scope as JsonObject,
          scope_schema_url: scope_schema_url as string,
        };
        if (!(await onReceived(received))) return undefined;
        if (slice.isOver) await slice.next();
      }
    }
  }
  return undefined;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** The places of all fields with this number; others are skipped. */
function messagesIn(reader: BinaryReader, number: number): readonly Place[] {
  const places: Place[] = [];
  while (reader.pos < reader.len) {
    const [found, wire] = reader.tag();
    if (found === number && wire === WireType.LengthDelimited) places.push(placeOf(reader));
    else reader.skip(wire);
    if (places.length > ITEMS_MAX) throw new Refusal(tooManyItems("traces"));
  }
  return places;
}

/** The places of field 2, which is repeated, and all other fields: a writer may put them before or after. */
function partsOf(
  reader: BinaryReader,
  { start, end }: Place,
  fields: Fields,
): { readonly found: readonly Place[]; readonly rest: Message } {
  const found: Place[] = [];
  const rest: Message = {};
  const budget = newBudget();
  reader.pos = start;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    const field = fields[number];
    if (number === 2 && wire === WireType.LengthDelimited) found.push(placeOf(reader));
    else if (field !== undefined && field.wire === wire) field.read(reader, rest, budget);
    else reader.skip(wire);
    if (found.length > ITEMS_MAX) throw new Refusal(tooManyItems("traces"));
  }
  return { found, rest };
}

function placeOf(reader: BinaryReader): Place {
  const length = reader.uint32();
  const start = reader.pos;
  const end = start + length;
  if (end > reader.len) throw new RangeError("premature end");
  reader.pos = end;
  return { start, end };
}

function readMessage(reader: BinaryReader, { start, end }: Place, fields: Fields, budget: Budget): Message {
  if (budget.levels <= 0) throw new Refusal(nestingTooDeep());
  budget.levels -= 1;
  const message: Message = {};
  reader.pos = start;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    const field = fields[number];
    budget.values -= 1;
    if (budget.values < 0) throw new Refusal(entryTooWide());
    if (field !== undefined && field.wire === wire) field.read(reader, message, budget);
    else reader.skip(wire);
  }
  if (reader.pos !== end) throw new RangeError("a field is longer than its message");
  budget.levels += 1;
  return message;
}

function newBudget(): Budget {
  return { values: limits.entry_values, levels: limits.nesting_levels };
}

class Refusal extends Error {
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejection.message);
    this.rejection = rejection;
  }
}

// Kinds of fields, each with the name that JSON has for it.

const text = (name: string) => of(WireType.LengthDelimited, (reader) => reader.string(), name);
const hex = (name: string) => of(WireType.LengthDelimited, (reader) => toBuffer(reader.bytes()).toString("hex"), name);
const base64 = (name: string) =>
  of(WireType.LengthDelimited, (reader) => toBuffer(reader.bytes()).toString("base64"), name);
const int = (name: string) => of(WireType.Varint, (reader) => reader.int32(), name);
const fixed32 = (name: string) => of(WireType.Bit32, (reader) => reader.fixed32(), name);
const bool = (name: string) => of(WireType.Varint, (reader) => reader.bool(), name);
/** 64-bit numbers are text, as in OTLP's JSON: a double would round them. */
const fixed64 = (name: string) => of(WireType.Bit64, (reader) => String(reader.fixed64()), name);
const int64 = (name: string) => of(WireType.Varint, (reader) => String(reader.int64()), name);
/** JSON has no such numbers: protobuf's JSON writes them as text. */
const double = (name: string) =>
  of(
    WireType.Bit64,
    (reader) => {
      const value = reader.double();
      return Number.isFinite(value) ? value : String(value);
    },
    name,
  );

function of(wire: WireType, read: (reader: BinaryReader) => JsonValue, name: string): Fields[number] {
  return {
    wire,
    read(reader, into) {
      into[name] = read(reader);
    },
  };
}

function message(name: string, fields: () => Fields): Fields[number] {
  return {
    wire: WireType.LengthDelimited,
    read(reader, into, budget) {
      const place = placeOf(reader);
      into[name] = readMessage(reader, place, fields(), budget);
    },
  };
}

function messages(name: string, fields: () => Fields): Fields[number] {
  return {
    wire: WireType.LengthDelimited,
    read(reader, into, budget) {
      const place = placeOf(reader);
      const read = readMessage(reader, place, fields(), budget);
      const list = into[name];
      if (Array.isArray(list)) list.push(read);
      else into[name] = [read];
    },
  };
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// The messages of OTLP 1.x, by field number.

const anyValue: Fields = {
  1: text("stringValue"),
  2: bool("boolValue"),
  3: int64("intValue"),
  4: double("doubleValue"),
  5: message("arrayValue", () => arrayValue),
  6: message("kvlistValue", () => kvlistValue),
  7: base64("bytesValue"),
};

const arrayValue: Fields = { 1: messages("values", () => anyValue) };
const kvlistValue: Fields = { 1: messages("values", () => keyValue) };
const keyValue: Fields = { 1: text("key"), 2: message("value", () => anyValue) };

const resource: Fields = { 1: messages("attributes", () => keyValue), 2: int("droppedAttributesCount") };

const scope: Fields = {
  1: text("name"),
  2: text("version"),
  3: messages("attributes", () => keyValue),
  4: int("droppedAttributesCount"),
};

const resourceFields: Fields = { 1: message("resource", () => resource), 3: text("schemaUrl") };
const scopeFields: Fields = { 1: message("scope", () => scope), 3: text("schemaUrl") };

const event: Fields = {
  1: fixed64("timeUnixNano"),
  2: text("name"),
  3: messages("attributes", () => keyValue),
  4: int("droppedAttributesCount"),
};

const link: Fields = {
  1: hex("traceId"),
  2: hex("spanId"),
  3: text("traceState"),
  4: messages("attributes", () => keyValue),
  5: int("droppedAttributesCount"),
  6: fixed32("flags"),
};

const status: Fields = { 2: text("message"), 3: int("code") };

const itemFields: { readonly [S in Signal]: Fields } = {
  traces: {
    1: hex("traceId"),
    2: hex("spanId"),
    3: text("traceState"),
    4: hex("parentSpanId"),
    5: text("name"),
    6: int("kind"),
    7: fixed64("startTimeUnixNano"),
    8: fixed64("endTimeUnixNano"),
    9: messages("attributes", () => keyValue),
    10: int("droppedAttributesCount"),
    11: messages("events", () => event),
    12: int("droppedEventsCount"),
    13: messages("links", () => link),
    14: int("droppedLinksCount"),
    15: message("status", () => status),
    16: fixed32("flags"),
  },
  logs: {
    1: fixed64("timeUnixNano"),
    2: int("severityNumber"),
    3: text("severityText"),
    5: message("body", () => anyValue),
    6: messages("attributes", () => keyValue),
    7: int("droppedAttributesCount"),
    8: fixed32("flags"),
    9: hex("traceId"),
    10: hex("spanId"),
    11: fixed64("observedTimeUnixNano"),
    12: text("eventName"),
  },
};

// Answers.

/** An `Export…ServiceResponse`; without a partial success it has no bytes. */
export function writeProtobufAnswer(rejected: number, reason: string): Uint8Array {
  if (reason === "") return new Uint8Array();
  const partial = new BinaryWriter().uint32(1 << 3).int64(rejected);
  partial.tag(2, WireType.LengthDelimited).string(reason);
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(partial.finish()).finish();
}

/** A `google.rpc.Status`, which is how OTLP answers a refused request. */
export function writeProtobufStatus(code: number, reason: string): Uint8Array {
  return new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(code)
    .tag(2, WireType.LengthDelimited)
    .string(reason)
    .finish();
}
