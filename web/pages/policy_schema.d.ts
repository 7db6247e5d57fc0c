// Made when the pages are bundled; see policy_schema.mjs.
declare module "policy-schema" {
  import type { Schema } from "../pictures/policy_text";
  const schema: Schema;
  export default schema;
}
