// The members of a JSON object as they stand in its bytes: found without building any of them, so that what is large and
// goes out unchanged is never more than bytes.
import { JsonTokenizer } from "./json-tokenizer.js";

/** The bytes of each member's value by its name; undefined where this is no object. What is deeper is not looked at. */
export function membersOf(json: Uint8Array): ReadonlyMap<string, Buffer> | undefined {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const members = new Map<string, Buffer>();
  let name: string | undefined;
  let hasColon = false;
  let start: number | undefined;
  let isWhole = false;
  const beginValue = (at: number): void => {
    if (hasColon) start ??= at;
    else tokenizer.stop();
  };
  const endMember = (at: number): boolean => {
    if (name === undefined || start === undefined) return false;
    members.set(name, bytes.subarray(start, at));
    name = undefined;
    hasColon = false;
    start = undefined;
    return true;
  };
  const tokenizer = new JsonTokenizer({
    begin(at, isObject) {
      if (tokenizer.depth === 2) beginValue(at);
      else if (tokenizer.depth === 1 && !isObject) tokenizer.stop();
    },
    end(at, isObject) {
      if (tokenizer.depth > 1) return;
      const isEmpty = members.size === 0 && name === undefined;
      isWhole = tokenizer.depth === 1 && isObject && (isEmpty || endMember(at));
      tokenizer.stop();
    },
    string(from, to) {
      if (tokenizer.depth > 1) return;
      if (tokenizer.depth === 1 && name === undefined) name = JSON.parse(bytes.toString("utf8", from, to)) as string;
      else beginValue(from);
    },
    scalar(from) {
      if (tokenizer.depth <= 1) beginValue(from);
    },
    colon() {
      if (tokenizer.depth > 1) return;
      hasColon = name !== undefined;
      if (!hasColon) tokenizer.stop();
    },
    comma(at) {
      if (tokenizer.depth <= 1 && !endMember(at)) tokenizer.stop();
    },
  });
  tokenizer.write(bytes);
  return isWhole ? members : undefined;
}
