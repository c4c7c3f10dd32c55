// The providers whose calls are understood: a new one is a file beside these and a row here.
import { anthropicMessages } from "./anthropic-messages.js";
import { gemini } from "./gemini.js";
import { openAiChat } from "./openai-chat.js";
import { openAiResponses } from "./openai-responses.js";
import type { Provider } from "./provider.js";

const providers: readonly Provider[] = [openAiChat, openAiResponses, anthropicMessages, gemini];

export function providerOf(path: string): Provider | undefined {
  return providers.find((provider) => provider.serves(path));
}
