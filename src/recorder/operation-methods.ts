// The operations as methods: the library's interface follows from their list.

import { knownOptions } from "../model/options.js";
import { type OperationMethods, operations, type RecorderMethods, recorderOperations } from "../operations/index.js";
import type { AnswerTo, AnyOperation, Asked, OperateHow, Options } from "../operations/operation.js";
import type { OptionsOf } from "../search/filters.js";

/** Runs an operation, here or on a server. */
export type Operate = (operation: AnyOperation, asked: Asked) => Promise<unknown>;

abstract class Operable {
  /** Runs an operation with the input of a request, a tool call or a command line. */
  abstract operate(operation: AnyOperation, options: Options, how?: OperateHow): Promise<unknown>;

  /** Recorded entries that contain a phrase, as text for an agent: one line each, newest first. */
  async sessionHistory(query: string, role?: string, limit?: number): Promise<string>;
  async sessionHistory(options: SessionHistoryOptions): Promise<string>;
  async sessionHistory(given: string | SessionHistoryOptions, role?: string, limit?: number): Promise<string> {
    const options = typeof given === "string" ? { query: given, role, limit } : given;
    const found = await this.operate(operations.sessionHistory, options);
    return (found as AnswerTo<typeof operations.sessionHistory>).text;
  }
}

/** As the agent asks: the query is one phrase, whatever it contains. */
export type SessionHistoryOptions = OptionsOf<(typeof operations.sessionHistory)["input"]> & { readonly query: string };

for (const [name, operation] of Object.entries(recorderOperations)) {
  Object.defineProperty(Operable.prototype, name, {
    writable: true,
    async value(this: Operable, ...given: readonly unknown[]): Promise<unknown> {
      return this.operate(operation, optionsOf(operation, given));
    },
  });
}

/** A class with a method for each operation of the recorder itself. */
export const OperationMethodsBase = Operable as abstract new () => Operable & RecorderMethods;

/** Every operation as a method, also for sessions and memories. */
export function methodsBy(operate: (operation: AnyOperation, options: Options) => Promise<unknown>): OperationMethods {
  const methods = Object.entries(operations).map(([name, operation]) => [
    name,
    async (...given: readonly unknown[]) => operate(operation, optionsOf(operation, given)),
  ]);
  return Object.fromEntries(methods) as OperationMethods;
}

/** Arguments given by place and by name, all by name. */
function optionsOf({ input, positional, body }: AnyOperation, given: readonly unknown[]): Options {
  const names = Object.keys(input).filter((name) => !positional.includes(name));
  const placed = Object.fromEntries(positional.map((name, at) => [name, given[at]]));
  const last = given[positional.length];
  if (body !== undefined) return { ...placed, body: last };
  return { ...knownOptions(last as object | undefined, names), ...placed };
}
