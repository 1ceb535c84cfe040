package gen

var firstNames = []string{
	"Ada", "Alan", "Amina", "Anders", "Anna", "Barbara", "Björn", "Carlos", "Chidi", "Chloé", "Dennis", "Edsger",
	"Elena", "Fatima", "Grace", "Hana", "Hedy", "Igor", "Ingrid", "Jean-Luc", "José", "Katherine", "Ken", "Kwame",
	"Lars", "Leila", "Linus", "Margaret", "Maria", "Mei", "Niklaus", "Noor", "Olga", "Omar", "Priya", "Radia",
	"Rosa", "Sofia", "Søren", "Tim", "Tomás", "Ursula", "Vint", "Wei", "Yuki", "Zoë",
}

var lastNames = []string{
	"Allen", "Andersson", "Bauer", "Chen", "Costa", "D'Angelo", "Diallo", "Dijkstra", "Dubois", "Fischer", "García",
	"Haddad", "Hopper", "Ivanova", "Jensen", "Johnson", "Kim", "Kowalski", "Lamarr", "Liskov", "Lovelace", "Mensah",
	"Moreau", "Müller", "Nakamura", "Nguyen", "Novák", "O'Brien", "Okafor", "Patel", "Perlman", "Ramírez", "Rossi",
	"Sato", "Schmidt", "Silva", "Singh", "Smith", "Suzuki", "Thompson", "Turing", "Wilson", "Wirth", "Yılmaz",
}

// mailHosts are reserved for examples (RFC 2606).
var mailHosts = []string{"example.com", "example.net", "example.org", "mail.example"}

var words = []string{
	"a", "above", "after", "all", "and", "answer", "any", "are", "as", "at", "bank", "before", "below", "between",
	"both", "bridge", "broad", "but", "by", "can", "channel", "clear", "cold", "current", "dam", "day", "deep",
	"down", "each", "early", "evening", "every", "far", "fast", "few", "field", "fish", "flood", "flow", "for",
	"from", "gate", "high", "hold", "ice", "in", "is", "it", "keeper", "lake", "late", "level", "light", "little",
	"lock", "long", "low", "many", "mill", "mist", "more", "morning", "much", "narrow", "near", "night", "no",
	"not", "of", "on", "once", "one", "or", "other", "out", "over", "passage", "pond", "pool", "rain", "reed",
	"rise", "river", "sand", "sea", "shallow", "shore", "side", "slow", "small", "snow", "some", "spring", "still",
	"stone", "stream", "summer", "the", "then", "through", "tide", "to", "under", "up", "valley", "very", "wall",
	"warm", "water", "wave", "weir", "wheel", "when", "wide", "willow", "wind", "winter", "with", "year",
}
