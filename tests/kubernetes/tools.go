//go:build tools

// Programs that are built as they stand.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
