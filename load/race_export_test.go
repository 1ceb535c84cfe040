package load

// RaceEnabled is raceEnabled for the tests in load_test.
const RaceEnabled = raceEnabled
