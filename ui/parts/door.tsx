// Where the record has keys: asks for one, and keeps it until the tab is closed.
import { type FormEvent, useState } from "react";
import { keepKey } from "../api.js";

const reasons: { readonly [code: string]: string } = {
  key_wrong: "That key is not known here, or was revoked. Enter another one.",
  scope_insufficient: "That key may not read. Enter one of scope read, review or admin.",
};

export function Door({ code }: { readonly code: string }) {
  const [key, setKey] = useState("");
  const enter = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== "") keepKey(key.trim());
  };
  return (
    <form className="door column" onSubmit={enter}>
      <h1>This record has keys</h1>
      <p role="status">
        {reasons[code] ?? "Enter one that may read. It is kept until this tab is closed, and nowhere else."}
      </p>
      <label htmlFor="key">Key</label>
      <input
        id="key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: there is nothing else to do here.
        autoFocus
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <button type="submit">Open the record</button>
      <p className="quiet">
        <code>hansard keys create --scope read</code> makes one.
      </p>
    </form>
  );
}
