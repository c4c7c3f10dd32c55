// Where the record has keys: asks for one, and keeps it until the tab is closed.
import { type FormEvent, useState } from "react";
import { keepKey } from "../api.js";

const reasons: { readonly [code: string]: string } = {
  key_wrong: "That key isn’t valid, or was revoked.",
  scope_insufficient: "That key cannot read. Enter one of scope read, review or admin.",
};

export function Door({ code }: { readonly code: string }) {
  const [key, setKey] = useState("");
  const enter = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== "") keepKey(key.trim());
  };
  return (
    <form className="door column" onSubmit={enter}>
      <h1>Enter an access key</h1>
      <p role="status">{reasons[code] ?? "Enter a key with read access. It is kept in this tab only."}</p>
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
      <button type="submit">Sign in</button>
      <p className="quiet">
        <code>hansard keys create --scope read</code> makes one.
      </p>
    </form>
  );
}
