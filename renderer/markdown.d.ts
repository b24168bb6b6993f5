/** A page of the guide; see markdownPages.ts. */
declare module '*.md' {
  const page: { readonly title: string; readonly html: string; readonly parts: readonly string[] };
  export default page;
}
