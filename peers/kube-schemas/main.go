// Kube-schemas writes the JSON schemas with which deploy/kubernetes is checked, so that the check
// needs no network:
//
//	cd peers && go run ./kube-schemas ../deploy/kubernetes/schemas
//
// The source is the OpenAPI document of Kubernetes and the definition of the ServiceMonitor in
// the modules named below, which it downloads from the module proxy.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	kubernetes = "k8s.io/kubernetes@v1.36.3"
	operator   = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
)

// kinds are the definitions of the kinds that are kept, by the name of their file.
var kinds = map[string]string{
	"deployment-apps-v1":                     "io.k8s.api.apps.v1.Deployment",
	"service-v1":                             "io.k8s.api.core.v1.Service",
	"configmap-v1":                           "io.k8s.api.core.v1.ConfigMap",
	"poddisruptionbudget-policy-v1":          "io.k8s.api.policy.v1.PodDisruptionBudget",
	"horizontalpodautoscaler-autoscaling-v2": "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
	"networkpolicy-networking-v1":            "io.k8s.api.networking.v1.NetworkPolicy",
}

// A schema is a JSON schema or a part of one.
type schema = map[string]any

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "kube-schemas:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	module, err := download(kubernetes)
	if err != nil {
		return err
	}
	var api struct{ Definitions map[string]schema }
	if err := read(filepath.Join(module, "api/openapi-spec/swagger.json"), &api); err != nil {
		return err
	}
	for file, kind := range kinds {
		root := schema{"$ref": "#/definitions/" + kind, "definitions": schema{}}
		if err := collect(api.Definitions, kind, root["definitions"].(schema)); err != nil {
			return err
		}
		if err := write(folder, file, root); err != nil {
			return err
		}
	}
	if err := copyLicense(module, folder); err != nil {
		return err
	}
	if module, err = download(operator); err != nil {
		return err
	}
	var monitor struct {
		Spec struct {
			Versions []struct {
				Schema struct{ OpenAPIV3Schema schema }
			}
		}
	}
	err = read(filepath.Join(module, "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"), &monitor)
	if err != nil {
		return err
	}
	root := monitor.Spec.Versions[0].Schema.OpenAPIV3Schema
	tidy(root)
	root["properties"].(schema)["metadata"] = schema{"type": "object"}
	return write(folder, "servicemonitor-monitoring-v1", root)
}

// download returns the folder of a module.
func download(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", module, err)
	}
	var found struct{ Dir string }
	return found.Dir, json.Unmarshal(out, &found)
}

func read(name string, into any) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(src, into) // JSON, too
}

func write(folder, name string, s schema) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name+".json"), append(text, '\n'), 0o644)
}

// copyLicense copies the licence of a module, which is that of both.
func copyLicense(module, folder string) error {
	text, err := os.ReadFile(filepath.Join(module, "LICENSE"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "LICENSE"), text, 0o644)
}

// collect adds a definition and those that it refers to.
func collect(all map[string]schema, name string, into schema) error {
	if into[name] != nil {
		return nil
	}
	s, ok := all[name]
	if !ok {
		return fmt.Errorf("there is no definition %s", name)
	}
	switch name {
	case "io.k8s.apimachinery.pkg.util.intstr.IntOrString", "io.k8s.apimachinery.pkg.api.resource.Quantity":
		s = schema{"type": []string{"string", "number"}} // the document has only the type string
	}
	tidy(s)
	into[name] = s
	for _, other := range references(s) {
		if err := collect(all, other, into); err != nil {
			return err
		}
	}
	return nil
}

// references returns the names of the definitions that a schema refers to.
func references(value any) (names []string) {
	switch value := value.(type) {
	case schema:
		if ref, ok := value["$ref"].(string); ok {
			names = append(names, strings.TrimPrefix(ref, "#/definitions/"))
		}
		for _, v := range value {
			names = append(names, references(v)...)
		}
	case []any:
		for _, v := range value {
			names = append(names, references(v)...)
		}
	}
	return names
}

// tidy removes descriptions and extensions from a schema, and refuses properties that it does not
// name.
func tidy(s schema) {
	properties, _ := s["properties"].(schema)
	if properties != nil && s["additionalProperties"] == nil && s["x-kubernetes-preserve-unknown-fields"] == nil {
		s["additionalProperties"] = false
	}
	for key, value := range s {
		switch {
		case key == "description" || key == "format" || key == "default" || strings.HasPrefix(key, "x-"):
			delete(s, key)
		case key == "properties":
			for _, p := range properties {
				tidy(p.(schema))
			}
		default:
			tidyValue(value)
		}
	}
}

func tidyValue(value any) {
	switch value := value.(type) {
	case schema:
		tidy(value)
	case []any:
		for _, v := range value {
			tidyValue(v)
		}
	}
}
