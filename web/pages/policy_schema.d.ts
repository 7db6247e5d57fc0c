// Where the schema lies that is made when the pages are bundled; see policy_schema.mjs.
declare module "policy-schema" {
  const url: string;
  export default url;
}
