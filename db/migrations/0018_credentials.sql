-- What a credential (an asset of kind password, accessKey, ...) hides. It goes with its asset.
CREATE TABLE credential_secrets (
    asset_uuid TEXT PRIMARY KEY REFERENCES assets (uuid) ON DELETE CASCADE,
    secret_sealed TEXT NOT NULL -- a JSON object
) STRICT, WITHOUT ROWID;
