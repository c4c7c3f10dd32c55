// Tools of operations: their schemas and answers follow from the operation; long answers are cut to what fits before a model.
import { knownOptions } from "../../model/options.js";
import { notFound, RecorderError } from "../../model/rejection.js";
import { operationList } from "../../operations/index.js";
import { type AnyOperation, pathParametersOf } from "../../operations/operation.js";
import type { Recorder } from "../../recorder/recorder.js";
import { pageThatFits, shortened } from "./bounds.js";
import { answerOutput, operationInput } from "./schemas.js";
import { type Arguments, recordedAnswer, type Tool, type ToolAnswer } from "./tool.js";

export const operationTools: { readonly [name: string]: Tool } = Object.fromEntries(
  operationList.flatMap((operation) =>
    operation.tool === undefined ? [] : [[operation.tool.name, toolOf(operation)]],
  ),
);

function toolOf(operation: AnyOperation): Tool {
  const { title = "", description = "" } = operation.tool ?? {};
  const required = operation.positional.filter((name) => name in operation.input);
  return {
    title,
    description,
    route: operation.route,
    input: () => operationInput(operation, required),
    output: (schemas) => answerOutput(schemas, (operation.output as { readonly title: string }).title),
    call: (recorder, args) => call(operation, recorder, args),
  };
}

async function call(operation: AnyOperation, recorder: Recorder, given: Arguments): Promise<ToolAnswer> {
  const args = knownOptions(given, Object.keys(operation.input));
  const list = operation.tool?.list;
  if (list === undefined) return recordedAnswer({ ...(await cut(operation, recorder, args)) });
  const page = await pageThatFits(list, args.limit, async (limit) => {
    const answer = await recorder.operate(operation, { ...args, limit });
    return answer as { readonly [name: string]: readonly object[] } & { readonly next_cursor: string | null };
  });
  return recordedAnswer({ ...page });
}

async function cut(operation: AnyOperation, recorder: Recorder, args: Arguments): Promise<object> {
  const answer = (await recorder.operate(operation, args)) as object | undefined;
  const [name = ""] = pathParametersOf(operation);
  if (answer === undefined) throw new RecorderError(notFound(operation.missing ?? "entry", args[name]));
  return shortened(answer) ?? onlyScalars(answer);
}

/** Of an answer that is wide rather than long: what is no list and no object. */
function onlyScalars(answer: object): object {
  const scalars = Object.entries(answer).map(([name, value]) => [name, Array.isArray(value) ? [] : value]);
  return Object.fromEntries(scalars);
}
