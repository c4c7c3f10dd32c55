// `hansard demo`: a server on a record in memory that holds a week's story, so that a newcomer sees everything at once.
import type { Command } from "commander";
import { tellStory } from "../../../recorder/demo/story.js";
import type { CommandModule, Invocation } from "../command.js";
import { listeningOptions, serveRecord } from "./serve.js";

export const demoCommand: CommandModule = {
  define(command: Command): void {
    listeningOptions(command);
  },

  run(invocation: Invocation) {
    const settings = { ...invocation.settings, data: "memory:" };
    return serveRecord({ ...invocation, settings }, (recorder) => tellStory(recorder, Date.now()));
  },
};
