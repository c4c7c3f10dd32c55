// Whatever cannot be drawn takes only its own view with it: the frame stays, and says so.
import { Component, type ReactNode } from "react";
import { Failed } from "./notice.js";

interface GuardProps {
  readonly children: ReactNode;
}

export class Guard extends Component<GuardProps, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: new Error(`This view failed: ${error instanceof Error ? error.message : String(error)}`) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <Failed error={error} again={() => this.setState({ error: undefined })} />;
  }
}
