package config

import (
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// JSONSchema returns a JSON Schema, draft-07, of a configuration and of an included file, for editors. It is made of
// the keys' descriptions. It cannot see what depends on several keys, or on other files.
func JSONSchema() []byte {
	all := &schemas{about: describe(schema), defined: object{}}
	all.file = all.scope(schema, func(key) (why, hint string) { return "", "" })
	file := all.file.fields("")
	file["$schema"] = "http://json-schema.org/draft-07/schema#"
	file["title"] = "weir.yaml"
	file["definitions"] = all.defined
	text, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		panic(err) // an object has only texts, numbers, lists and objects
	}
	return append(text, '\n')
}

// An object is a part of a JSON Schema.
type object = map[string]any

// schemas are the parts of the schema to which others refer, by name.
type schemas struct {
	about   map[string]*yamlfile.Description // of all keys, by path
	defined object
	file    *schemaScope
}

// A schemaScope makes the schema of the keys of a file, or of a place around routes.
type schemaScope struct {
	*schemas
	fileReader
	outermost bool            // there are no values to inherit
	required  map[string]bool // whether a key of routes that has no value in a route is a mistake, by path
}

// scope returns the scope of those of some keys that are not refused there. The keys of routes are required if those
// of a group are: others may be inherited.
func (all *schemas) scope(keys []key, refuse func(key) (why, hint string)) *schemaScope {
	r, _ := newReader("weir.yaml", nil, nil)
	s := &schemaScope{schemas: all, fileReader: *r.fileReader, required: map[string]bool{}}
	s.Schema = slices.DeleteFunc(slices.Clone(keys), func(k key) bool { return isRefused(keys, k.Path, refuse) })
	for _, k := range groupSchema() {
		s.required[k.Path] = k.Required != ""
	}
	s.required[routePath+".match"] = true
	return s
}

// describe returns the description of a key, which is below group in the schema of files if it is one of a group.
func (s *schemaScope) describe(k key) *yamlfile.Description {
	if d := s.about[k.Path]; d != nil {
		return d
	}
	return s.about[strings.Replace(k.Path, routePath+".", routePath+".group.", 1)]
}

// fields returns the schema of a mapping with keys.
func (s *schemaScope) fields(path string) object {
	properties, required := object{}, []string(nil)
	mapping := object{"type": "object", "properties": properties, "additionalProperties": false}
	for _, k := range s.Schema {
		parent, name := k.Parent()
		switch {
		case parent != path:
		case name == "*":
			mapping["additionalProperties"] = s.value(k)
		default:
			properties[name] = s.shared(name, s.value(k), path == routePath && !s.outermost)
			if k.Required != "" && (s.required[k.Path] || !strings.HasPrefix(k.Path, routePath)) && !slices.Contains(includable, k.Path) {
				required = append(required, name)
			}
		}
	}
	if required != nil {
		mapping["required"] = required
	}
	if properties["to"] != nil && path == routePath {
		mapping["dependencies"] = oneAction()
	}
	return mapping
}

// oneAction returns the schemas of mappings that have an action: they have no other one.
func oneAction() object {
	dependencies := object{}
	for _, action := range actionNames {
		var others []object
		for _, other := range actionNames {
			if other != action {
				others = append(others, object{"required": []string{other}})
			}
		}
		dependencies[action] = object{"not": object{"anyOf": others}}
	}
	return dependencies
}

// mayBeOff reports whether a key has the value off, or off may remove an inherited value.
func (s *schemaScope) mayBeOff(k key) bool {
	return k.Off != nil || !s.outermost && isInherited(k.Path)
}

// value returns the schema of the value of a key.
func (s *schemaScope) value(k key) object {
	d := s.describe(k)
	var forms []object
	switch k.Path {
	case "defaults":
		forms = []object{s.refer("defaults", func() object {
			in := s.scope(asRoute(), refusedInDefaults)
			in.outermost = true
			return in.fields(routePath)
		})}
	case routePath + ".group":
		forms = []object{s.refer("group", func() object { return s.scope(asRoute(), refusedInGroup).fields(routePath) })}
	case "routes", routePath + ".routes":
		entry := s.refer("entry", func() object { return entry(s.file.fields(routePath)) })
		forms = []object{entry, listOf(entry, d)}
	default:
		forms = s.forms(k, d)
	}
	if s.mayBeOff(k) && (!d.Single || d.List || d.Names) {
		forms = append(forms, object{"enum": []any{"off"}})
	}
	value := oneOf(forms)
	described := value
	if ref, ok := value["$ref"].(string); ok { // beside which other members have no meaning
		described = s.defined[strings.TrimPrefix(ref, definitions)].(object)
	}
	described["description"] = s.doc(k, d)
	return value
}

// forms returns the schemas of the values of a key, one for each form.
func (s *schemaScope) forms(k key, d *yamlfile.Description) (forms []object) {
	each, named := s.KeyOf(k.Path, "*")
	if d.Single {
		single := s.single(k, d)
		if forms = append(forms, single); d.List && !named {
			forms = append(forms, listOf(single, d))
		}
	}
	switch {
	case named && d.List:
		element := s.value(each)
		forms = []object{element, listOf(element, d)}
		if fields := s.fields(k.Path); len(fields["properties"].(object)) > 0 {
			delete(fields, "required")
			fields["additionalProperties"] = false
			forms = append(forms, fields)
		}
	case d.Fields || d.Names:
		fields := s.fields(k.Path)
		if k.NotEmpty && (s.outermost || !strings.HasPrefix(k.Path, routePath)) { // a route may inherit keys
			fields["minProperties"] = 1
		}
		forms = append(forms, fields)
	}
	yes := s.Normalise(k.Path, yamlfile.Of("true"))
	if yes.Kind == yamlfile.Mapping && len(yes.Pairs) == 0 && d.Fields && !d.List && !k.NotEmpty && forms[len(forms)-1]["required"] == nil {
		forms = append(forms, object{"enum": []any{true}})
	}
	if of, known := s.KeyOf(k.Path, k.Short); k.Short != "" && known {
		short := s.value(of)
		delete(short, "description")
		if below, ok := short["anyOf"].([]object); ok {
			return append(forms, below...)
		}
		forms = append(forms, short)
	}
	return forms
}

// variableText matches a text with a variable, whose value the schema cannot see.
const variableText = "[$][{]"

// single returns the schema of a single value.
func (s *schemaScope) single(k key, d *yamlfile.Description) object {
	words := slices.Clone(d.Words)
	if s.mayBeOff(k) && !d.List {
		words = append(words, "off")
	}
	text := object{"type": jsonTypes(d)}
	switch quoted := quoteAll(words); {
	case d.Pattern == "" && d.Name == "":
		text["type"] = "string"
		text["pattern"] = "^(" + strings.Join(quoted, "|") + ")$|" + variableText
	case d.Pattern == "":
	default:
		text["pattern"] = "^(" + strings.Join(append(quoted, d.Pattern), "|") + ")$|" + variableText
	}
	if d.Number {
		first, last := d.Range()
		text["minimum"] = number(cmp.Or(first, "0"))
		if last != "" {
			text["maximum"] = number(last)
		}
	}
	if unit, _, _ := strings.Cut(d.Unit, ","); unit != "" && (k.Off != nil || !d.Accepts("0"+unit, "string")) {
		text["not"] = object{"type": "string", "pattern": "^0+[A-Za-z/%]+$"}
	}
	if len(words) == 0 || len(words) == 1 && words[0] == "off" {
		return text
	}
	typed := make([]any, len(words))
	for i, word := range words {
		switch n := number(word); {
		case word == "true" || word == "false":
			typed[i] = word == "true"
		case n != "":
			typed[i] = n
		default:
			typed[i] = word
		}
	}
	return object{"anyOf": []object{{"enum": typed}, text}}
}

// jsonTypes returns the types of single values.
func jsonTypes(d *yamlfile.Description) any {
	types := []string{"string"}
	for _, n := range []string{"1", "2", "200", "443", "2.5"} {
		if kind := "number"; d.Accepts(n, "float") {
			if d.Number {
				kind = "integer"
			}
			types = append(types, kind)
			break
		}
	}
	if d.Pattern == "" && d.Accepts("true", "bool") {
		types = append(types, "boolean")
	}
	if len(types) == 1 {
		return types[0]
	}
	return types
}

// number returns a text as a number of JSON, or "".
func number(text string) json.Number {
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return ""
	}
	return json.Number(text)
}

// quoteAll returns the words for regular expressions.
func quoteAll(words []string) (quoted []string) {
	for _, word := range words {
		quoted = append(quoted, regexp.QuoteMeta(word))
	}
	return quoted
}

// refer returns a reference to a part of the schema, which is made if there is none of this name.
func (s *schemaScope) refer(name string, schema func() object) object {
	if _, made := s.defined[name]; !made {
		s.defined[name] = nil // a group contains groups
		s.defined[name] = schema()
	}
	return object{"$ref": definitions + name}
}

// definitions is the place of the parts to which others refer.
const definitions = "#/definitions/"

// shared returns a reference to a value that groups and routes have in common, and otherwise the value.
func (s *schemaScope) shared(name string, value object, common bool) object {
	if _, hasForms := value["anyOf"]; !common || !hasForms {
		return value
	}
	if before, made := s.defined[name]; made && !reflect.DeepEqual(before, value) {
		return value
	}
	s.defined[name] = value
	return object{"$ref": definitions + name}
}

// entry returns the schema of an element of a list of routes: a group alone, or a route.
func entry(route object) object {
	route["if"] = object{"required": []string{"group"}}
	route["then"] = object{"maxProperties": 1}
	route["else"] = object{"required": route["required"]}
	delete(route, "required")
	return route
}

// listOf returns the schema of a list.
func listOf(element object, d *yamlfile.Description) object {
	list := object{"type": "array", "items": element}
	if d.Filled {
		list["minItems"] = 1
	}
	return list
}

// oneOf returns the schema of a value that has one of some forms.
func oneOf(forms []object) object {
	if len(forms) == 1 {
		return forms[0]
	}
	return object{"anyOf": forms}
}

// doc returns the description of a key: its meaning, or the keys below it, and its default.
func (s *schemaScope) doc(k key, d *yamlfile.Description) string {
	doc := k.Doc
	if doc == "" {
		var names []string
		for _, below := range s.Schema {
			switch parent, name := below.Parent(); {
			case parent != k.Path:
			case name == "*":
				doc = below.Doc
			default:
				names = append(names, name)
			}
		}
		if names != nil {
			doc = strings.Trim(doc+"; keys: "+strings.Join(names, ", "), "; ")
		}
	}
	if k.Short != "" && k.Doc == "" {
		doc += ". A single value is " + k.Short
	}
	if d.Default != "" {
		doc += ". Default: " + d.Default
	}
	return doc
}
