// `hansard told`: whether a text was in the model's context when it answered.
import type { Told } from "../../../model/context.js";
import { operations } from "../../../operations/index.js";
import { operationCommand } from "../operation-command.js";
import { toldText } from "../text/context-text.js";

export const toldCommand = operationCommand<Told>([operations.told], (told, out, { given }) =>
  toldText(told, given.q ?? "", out),
);
