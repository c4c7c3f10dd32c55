// A picture that lies in the record itself. What lies elsewhere is named and never fetched: asking for it would tell on the reader.
export function Picture({ text, image }: { readonly text: string; readonly image: string }) {
  return <img className="picture" src={image} alt={text} />;
}
