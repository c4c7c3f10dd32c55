// Tools of operations: their schemas and answers follow from the operation. Long answers are cut to fit, and always
// masked.
import { knownOptions } from "../../model/options.js";
import { RecorderError } from "../../model/rejection.js";
import { operationList } from "../../operations/index.js";
import { type AnyOperation, missingFrom, pathParametersOf } from "../../operations/operation.js";
import type { Recorder } from "../../recorder/recorder.js";
import { countThatFits, cursorAt, fits, pageThatFits, pieceOf, placeOf, shortened } from "./bounds.js";
import { type Arguments, type JsonSchema, recordedAnswer, type Schemas, type Tool, type ToolAnswer } from "./tool.js";

type OperationTool = AnyOperation["tools"][number];
type Document = { readonly [name: string]: unknown };

/** A tool, and the operation that it carries out. */
interface Carried {
  readonly operation: AnyOperation;
  readonly tool: OperationTool;
}

export function operationTools(): { readonly [name: string]: Tool } {
  const carried = operationList.flatMap((operation) => operation.tools.map((tool): Carried => ({ operation, tool })));
  return Object.fromEntries(
    carried.map((one) => [one.tool.name, one.tool.body === undefined ? asking(one) : sending(one)]),
  );
}

/** A tool of an operation that is asked with parameters. */
function asking(carried: Carried): Tool {
  const { operation, tool } = carried;
  const { title, description } = tool;
  const cut = cutOf(carried);
  return {
    title,
    description,
    route: operation.route,
    scopes: () => [operation.scope],
    input: () => inputOf(carried, cut),
    output: (schemas) => cut.output(carried, schemas),
    async call(recorder, given) {
      const named = withoutAliases(given, tool.aliases);
      const args = knownOptions(named, Object.keys(inputOf(carried, cut).properties));
      // Missing arguments are reported in the tool's own terms.
      const inPath = pathParametersOf(operation).map((name) => tool.names?.[name] ?? name);
      const absent = inPath.find((name) => (args[name] ?? undefined) === undefined);
      if (absent !== undefined) {
        throw new RecorderError({ code: "field_missing", field: absent, message: `${absent} is missing` });
      }
      return cut.answer(carried, args, (own = {}) => ask(carried, recorder, { ...args, ...own }));
    },
  };
}

/** A tool of an operation that is sent a body. */
function sending({ operation, tool }: Carried): Tool {
  const { title, description, answer } = tool;
  const { schema, fixed, hint, withheld = [], needed = [] } = tool.body as NonNullable<OperationTool["body"]>;
  const { scopes, scope, body, route, output } = operation;
  return {
    title,
    description,
    route,
    scopes: (args) => scopes?.({ ...args, ...fixed }) ?? [scope],
    input: (schemas) => {
      const given = sentInput(schemas, schema, [...Object.keys(fixed), ...withheld]);
      return { ...given, required: [...new Set([...(given.required as readonly string[]), ...needed])] };
    },
    output: (schemas) => outputOf(answer?.schema ?? output, schemas),
    async call(recorder, args, { actor }) {
      for (const field of withheld) if (args[field] !== undefined) throw notForAgents(field);
      for (const field of needed) if (!isFilled(args[field])) throw notGiven(field);
      for (const [field, value] of Object.entries(fixed)) {
        if ((args[field] ?? value) !== value) throw fixedHere(field, value, hint);
      }
      const sender = body?.actor === undefined ? {} : { actor };
      const answered = (await recorder.operate(operation, { body: { ...args, ...fixed, ...sender } })) as never;
      if (answer === undefined) return recordedAnswer(answered);
      return { structured: { ...answer.document(answered) }, text: answer.text(answered) };
    },
  };
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : (value ?? undefined) !== undefined;
}

function notGiven(field: string): RecorderError {
  const hint = "Quote entries that say it: [{ entry_id, quote }].";
  return new RecorderError({ code: "field_missing", field, message: `${field} is missing`, hint });
}

function notForAgents(field: string): RecorderError {
  const message = `an agent cannot set ${field}`;
  return new RecorderError({ code: "field_invalid", field, message, hint: "Leave it out; a person decides." });
}

function fixedHere(field: string, value: string, hint = "Leave it out."): RecorderError {
  return new RecorderError({ code: "field_invalid", field, message: `${field} must be ${value} here`, hint });
}

function withoutAliases(given: Arguments, aliases: { readonly [alias: string]: string } = {}): Arguments {
  const toName = (name: string): string => {
    const own = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
    return own === undefined || Object.hasOwn(given, own) ? name : own;
  };
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [toName(name), value]));
}

/** How a long answer is cut. */
interface Cut {
  /** Whether it continues with a cursor that the tool makes itself. */
  readonly has_cursor: boolean;
  readonly output: (carried: Carried, schemas: Schemas) => JsonSchema;
  readonly answer: (
    carried: Carried,
    args: Arguments,
    ask: (own?: Arguments) => Promise<Document>,
  ) => Promise<ToolAnswer>;
}

function cutOf({ tool, operation: { input } }: Carried): Cut {
  if (tool.in_parts === true) return tool.text === undefined ? documentInParts : textInParts;
  if (tool.list === undefined) return whole;
  return "cursor" in input ? pages : listInParts;
}

const whole: Cut = {
  has_cursor: false,
  output: ({ operation }, schemas) => outputOf(operation.output, schemas),
  async answer({ tool }, _, ask) {
    const answer = await ask();
    const document = shortened(answer) ?? withoutLists(answer);
    return tool.text === undefined
      ? recordedAnswer(document)
      : recordedAnswer(document, pieceOf(String(fieldAt(answer, tool.text)), "").text);
  },
};

/** Fewer rows are requested until they fit. */
const pages: Cut = {
  has_cursor: false,
  output: whole.output,
  async answer({ tool }, { limit }, ask) {
    type Page = { readonly [name: string]: readonly object[] } & { readonly next_cursor: string | null };
    const page = await pageThatFits(tool.list ?? "", limit, async (limit) => (await ask({ limit })) as Page);
    return recordedAnswer({ ...page });
  },
};

const listInParts: Cut = {
  has_cursor: true,
  output({ tool, operation: { output } }) {
    const { oneOf = [output] } = output as { readonly oneOf?: readonly object[] };
    const shapes = oneOf as readonly { readonly properties: { readonly [name: string]: JsonSchema } }[];
    const { [tool.list ?? ""]: _, ...others } = Object.assign({}, ...shapes.map(({ properties }) => properties));
    return object(
      { [tool.list ?? ""]: { type: "array", items: { type: "object" } }, ...others, next_cursor: nextCursor },
      [...Object.keys(others)],
    );
  },
  async answer({ tool }, { cursor }, ask) {
    const { [tool.list ?? ""]: list, ...rest } = await ask();
    const all = list as readonly object[];
    const start = placeOf(cursor, (offset) =>
      offset <= all.length ? JSON.stringify(all.slice(0, offset)) : undefined,
    );
    const rows = all.slice(start).map((row) => shortened(row) ?? onlyTexts(row));
    const head = shortened(rest) ?? {};
    const end = start + countThatFits(rows, { ...head, next_cursor: CURSOR_SAMPLE });
    const next_cursor = end < all.length ? cursorAt(end, JSON.stringify(all.slice(0, end))) : null;
    return recordedAnswer({ [tool.list ?? ""]: rows.slice(0, end - start), ...head, next_cursor });
  },
};

const textInParts: Cut = {
  has_cursor: true,
  output: ({ tool }) => object({ [tool.text ?? ""]: { type: "string" }, next_cursor: nextCursor }),
  async answer({ tool }, { cursor }, ask) {
    const { text, next_cursor } = pieceOf(String((await ask())[tool.text ?? ""]), cursor);
    return recordedAnswer({ [tool.text ?? ""]: text, next_cursor }, text);
  },
};

const PART_BYTES_MAX = 28 * 1024;

/** An entry: each part comes with its envelope. */
const documentInParts: Cut = {
  has_cursor: true,
  output(_, schemas) {
    const { properties, required } = envelopeOf(schemas);
    const part = { type: "string", description: "A part of its JSON text if it is too long." };
    return { type: "object", properties: { ...properties, part, next_cursor: nextCursor }, required };
  },
  async answer(_, { cursor }, ask) {
    const entry = await ask();
    if (fits(entry) && (cursor ?? "") === "") return recordedAnswer({ ...entry, next_cursor: null });
    const { position, id, kind, created_at, recorded_at, recorded_by, session_id, project, client, hash } = entry;
    const { user_id, tags, parent_id } = entry;
    const envelope = {
      position,
      id,
      kind,
      created_at,
      recorded_at,
      recorded_by,
      session_id,
      project,
      client,
      hash,
      user_id,
      tags,
      parent_id,
    };
    // The envelope and the quotation marks come on top of the part.
    const part = pieceOf(JSON.stringify(entry), cursor, PART_BYTES_MAX);
    return recordedAnswer({ ...envelope, part: part.text, next_cursor: part.next_cursor }, part.text);
  },
};

const CURSOR_SAMPLE = "0".repeat(40);

type ToolInput = {
  readonly type: "object";
  readonly properties: { readonly [name: string]: JsonSchema };
  readonly required: readonly string[];
  readonly additionalProperties: false;
};

function inputOf({ operation: { input, positional }, tool }: Carried, { has_cursor }: Cut): ToolInput {
  const { masked: _, ...shown } = input;
  const named = Object.fromEntries(Object.entries(shown).map(([name, one]) => [tool.names?.[name] ?? name, one]));
  const required = positional.filter((name) => {
    const parameter = shown[name];
    return parameter !== undefined && parameter.is_optional !== true;
  });
  const { properties, ...rest } = operationInput({ input: named });
  return {
    ...rest,
    properties: has_cursor ? { ...properties, cursor: cursorProperty } : properties,
    required: required.map((name) => tool.names?.[name] ?? name),
  };
}

async function ask({ operation, tool }: Carried, recorder: Recorder, args: Arguments): Promise<Document> {
  const { input } = operation;
  const { names = {}, at_most = {} } = tool;
  const given = Object.keys(input).map((name) => [name, args[names[name] ?? name]] as const);
  const options: { [name: string]: unknown } = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  for (const [name, most] of Object.entries(at_most)) options[name] = Math.min(Number(options[name] ?? most), most);
  const answer = await recorder.operate(operation, { ...options, ...("masked" in input ? { masked: true } : {}) });
  if (answer === undefined) throw missingFrom(operation, options);
  return answer as Document;
}

/** The schema of an answer: by its name where it has one, since HTTP documents what it refers to. */
function outputOf(schema: object, schemas: Schemas): JsonSchema {
  const { title } = schema as { readonly title?: string };
  return title === undefined ? (schema as JsonSchema) : answerOutput(schemas, title);
}

/** A field, or a field of a field: `context_pack.text`. */
function fieldAt(answer: Document, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (value as Document)[name], answer);
}

/** For an answer with too many members: everything except lists. */
function withoutLists(answer: object): Document {
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, Array.isArray(value) ? [] : value]));
}

/** The same for a row: of a message, its role and whether it has content. */
function onlyTexts(row: object): object {
  const texts = Object.entries(row).map(([name, value]) => [name, typeof value === "string" ? value.slice(0, 40) : ""]);
  return Object.fromEntries(texts);
}

function object(properties: { readonly [name: string]: JsonSchema }, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

// JSON schemas of tools: arguments from the tables of questions and kinds, answers from what HTTP documents.

type Properties = { readonly [name: string]: JsonSchema };

const cursorProperty: JsonSchema = {
  type: "string",
  description: "`next_cursor` of the previous answer, with the same arguments.",
};

const nextCursor: JsonSchema = {
  type: ["string", "null"],
  description: "Pass it as `cursor` for the next page; null on the last.",
};

/** The arguments of an operation. */
function operationInput({ input }: Pick<AnyOperation, "input">) {
  const properties: Properties = Object.fromEntries(
    Object.entries(input).map(([name, { schema, description }]) => [name, { ...schema, description }]),
  );
  return { type: "object", properties, required: [] as readonly string[], additionalProperties: false } as const;
}

/** The fields of a body as they are given, but for some; what it refers to stands in it. */
function sentInput(schemas: Schemas, schemaName: string, without: readonly string[]): JsonSchema {
  const { properties, required, ...rest } = schemas[schemaName] as {
    readonly properties: Properties;
    readonly required: readonly string[];
  };
  const fields = Object.entries(properties).filter(([name]) => !without.includes(name));
  return {
    ...rest,
    properties: resolved(Object.fromEntries(fields), schemas),
    required: required.filter((name) => !without.includes(name)),
  };
}

function resolved(schema: unknown, schemas: Schemas): unknown {
  return JSON.parse(JSON.stringify(schema), (_, part) => {
    const [name] = typeof part?.$ref === "string" ? referencesOf(part) : [];
    return name === undefined ? part : schemas[name];
  });
}

/** A schema that stands alone: what it refers to comes with it. */
function answerOutput(schemas: Schemas, schemaName: string): JsonSchema {
  const known = { ...schemas, ...lean(schemas) };
  const named = new Set<string>();
  const gather = (name: string): void => {
    if (named.has(name)) return;
    named.add(name);
    for (const other of referencesOf(known[name])) gather(other);
  };
  const root = known[schemaName];
  for (const name of referencesOf(root)) gather(name);
  const document = { ...root, $defs: Object.fromEntries([...named].map((name) => [name, known[name]])) };
  return JSON.parse(JSON.stringify(document).replaceAll("#/components/schemas/", "#/$defs/"));
}

/** What all kinds have in common: a schema of each kind would be longer than most answers. */
function envelopeOf(schemas: Schemas): { readonly properties: Properties; readonly required: string[] } {
  const { properties, required } = schemas.ErasedEntry as { properties: Properties; required: readonly string[] };
  const { erased: _, ...envelope } = properties;
  return { properties: envelope, required: required.filter((name) => name !== "erased") };
}

function lean(schemas: Schemas): Schemas {
  const envelope = { type: "object", ...envelopeOf(schemas), description: "The envelope, and the fields of its kind." };
  const text = { type: "string" };
  const listed = {
    ...envelope,
    description:
      "The envelope, and the fields of its kind; only the envelope and `altered` if it does not match its hash.",
  };
  const memory = {
    type: "object",
    properties: { id: text, type: text, content: text, project: text, status: text, confidence: { type: "number" } },
    required: ["id", "type", "content", "project", "status", "confidence"],
  };
  return { Entry: envelope, EntrySummary: envelope, ListedEntry: listed, Memory: memory };
}

function referencesOf(schema: unknown): readonly string[] {
  const found = (JSON.stringify(schema) ?? "").matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  return [...found].map(([, name]) => name as string);
}
