// The types of a history as providers' SDKs take them: mutable, and one type of message for each role.
import type { JsonObject, JsonValue } from "../../model/json.js";

export interface OpenAiCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

interface TextPart {
  type: "text";
  text: string;
}

type OpenAiUserPart =
  | TextPart
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } }
  | { type: "file"; file: { file_data?: string; file_id?: string; filename?: string } };

/** With `include=reasoning`, what the model thought, as it was recorded. */
interface OpenAiReasoning {
  reasoning_content?: JsonValue;
  reasoning?: JsonValue;
  reasoning_details?: JsonValue;
  thinking_blocks?: JsonValue;
}

/** Any message may be asked for its calls. */
interface NoCalls {
  tool_calls?: undefined;
  tool_call_id?: undefined;
}

export type OpenAiMessage =
  | ({ role: "system"; content: string | TextPart[]; name?: string } & NoCalls)
  | ({ role: "user"; content: string | OpenAiUserPart[]; name?: string } & NoCalls)
  | ({
      role: "assistant";
      content: string | (TextPart | { type: "refusal"; refusal: string })[];
      tool_calls?: OpenAiCall[];
      name?: string;
      tool_call_id?: undefined;
    } & OpenAiReasoning)
  | { role: "tool"; content: string | TextPart[]; tool_call_id: string; name?: string; tool_calls?: undefined };

interface CacheControl {
  type: "ephemeral";
  ttl?: "5m" | "1h";
}

interface Cached {
  cache_control?: CacheControl;
}

type ImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

interface AnthropicText extends TextPart, Cached {}

interface AnthropicImage extends Cached {
  type: "image";
  source: { type: "base64"; media_type: ImageType; data: string } | { type: "url"; url: string };
}

interface AnthropicDocument extends Cached {
  type: "document";
  source:
    | { type: "base64"; media_type: "application/pdf"; data: string }
    | { type: "text"; media_type: "text/plain"; data: string }
    | { type: "url"; url: string };
  title?: string;
  context?: string;
}

/** What a tool of the provider's own was asked, and what it gave back, as the provider wrote it. */
type AnthropicServerBlock = Cached &
  (
    | {
        type: "server_tool_use";
        id: string;
        name: "web_search" | "web_fetch" | "code_execution" | "bash_code_execution" | "text_editor_code_execution";
        input: unknown;
      }
    | {
        type: "web_search_tool_result";
        tool_use_id: string;
        content: { type: "web_search_result"; encrypted_content: string; title: string; url: string }[];
      }
  );

export type AnthropicBlock =
  | AnthropicText
  | AnthropicImage
  | AnthropicDocument
  | AnthropicServerBlock
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | ({ type: "tool_use"; id: string; name: string; input: JsonObject } & Cached)
  | ({
      type: "tool_result";
      tool_use_id: string;
      content: string | (AnthropicText | AnthropicImage | AnthropicDocument)[];
      is_error?: boolean;
    } & Cached);

export interface AnthropicMessage {
  role: "user" | "assistant";
  content: string | AnthropicBlock[];
}

export interface AnthropicHistory {
  system: string;
  messages: AnthropicMessage[];
}
