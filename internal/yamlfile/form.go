package yamlfile

// A Form describes the single values that a parser accepts: Words, and others that match Pattern. A form without Words
// and Pattern is any text.
type Form struct {
	Name     string   // what a value is, as in "duration"; "" if Words are all values
	Unit     string   // the units of a value, as in "B, KiB, MiB, GiB"
	Examples string   // values, where Name does not say how they look
	Words    []string // words with a meaning, as in auto
	Pattern  string   // a regular expression of whole values, in the syntax that RE2 and ECMAScript share
	Number   bool     // the values are whole numbers
}

// A Description says which values the function that reads a key accepts. The function makes it itself.
type Description struct {
	Form           // of a single value, and of the elements of a list
	Filled  bool   // a list must not be empty
	Single  bool   // the value may be a single one
	List    bool   // the value may be a list, or one element of it
	Fields  bool   // the value may be a mapping with the keys of the schema
	Names   bool   // the value is a mapping with names that the user chooses
	Default string // the value of a key that is not in the file, as it would be written there; "" if it has none

	unset any                                          // the value before the key is read, or nil
	parse func(text, kind string) (value any, ok bool) // nil if there is no single value
}
