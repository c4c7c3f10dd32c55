// `hansard context`: what a model was given for an answer.
import type { Context } from "../../../model/context.js";
import { operations } from "../../../operations/index.js";
import { operationCommand } from "../operation-command.js";
import { contextText } from "../text/context-text.js";

export const contextCommand = operationCommand<Context>([operations.context], contextText);
