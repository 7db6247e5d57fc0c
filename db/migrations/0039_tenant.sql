-- The tenant's own number, for clients that ask for tenants.
INSERT OR IGNORE INTO meta (key, value)
    SELECT 'tenant_uuid', substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-4' || substr(h, 14, 3) || '-a' ||
        substr(h, 18, 3) || '-' || substr(h, 21) FROM (SELECT lower(hex(randomblob(16))) AS h);
