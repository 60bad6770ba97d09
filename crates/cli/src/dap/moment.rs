//! Requests about the current moment: threads, stacks, variables.

use serde_json::{Value, json};
use slipring_debug::{Session, buffer_contents, decoded, row, tile_contents};
use slipring_report::Value as Fact;

/// Variable references below this are scopes; from here up they are events, then tiles and buffers by position.
const EVENTS: u64 = 16;
const TILES: u64 = 1 << 30;
const BUFFERS: u64 = TILES + (1 << 24);

/// Elements of a buffer per line.
const LINE: usize = 16;

/// Answers a request about the current moment.
pub fn told(session: &Session, command: &str, asked: &Value) -> Result<Value, String> {
    let history = session.history();
    let (begun, _) = session.place_in_time();
    match command {
        "threads" => {
            let threads = history.rows().into_iter().map(|(row, name)| json!({ "id": row + 1, "name": name }));
            Ok(json!({ "threads": threads.collect::<Vec<_>>() }))
        }
        "stackTrace" => {
            // The last event of the thread that has begun.
            let row = thread(session, asked)?;
            let event = (0..begun).rev().find(|event| history.row_of(*event) == row);
            let frames: Vec<Value> = event
                .into_iter()
                .map(|event| {
                    let slice = history.slice(event);
                    let line = history.line(event);
                    let path = line.as_ref().and_then(|line| line.file.as_deref()).unwrap_or(&session.source().name);
                    let name = std::path::Path::new(path).file_name().map_or("", |name| name.to_str().unwrap_or(""));
                    json!({
                        "id": event + 1,
                        "name": format!("{} ({} to {})", slice.name, slice.start, slice.end),
                        "line": line.as_ref().map_or(0, |line| line.number),
                        "column": 1,
                        "source": { "name": name, "path": path },
                    })
                })
                .collect();
            Ok(json!({ "totalFrames": frames.len(), "stackFrames": frames }))
        }
        "scopes" => {
            // Contents are computed by a run up to this moment.
            let scope = |name: &str, number: u64| {
                let expensive = matches!(number, 4 | 6);
                json!({ "name": name, "variablesReference": number, "expensive": expensive })
            };
            let event = asked["frameId"].as_u64().unwrap_or(0);
            Ok(json!({ "scopes": [
                scope("Event", EVENTS + event), scope("Cores", 2), scope("Rings", 3), scope("Buffers", 4),
                scope("Flags", 5), scope("Tiles", 6),
            ]}))
        }
        "dataBreakpointInfo" => {
            let name = asked["name"].as_str().unwrap_or("");
            let whole = session.buffers().into_iter().find(|(own, ..)| own == name);
            let bytes = whole.and_then(|(_, _, at)| session.history().run().input(at)).map(<[u8]>::len);
            let tile = session.tile_bytes(name);
            let id = match bytes.or(tile) {
                Some(bytes) => Some(format!("bytes 0..{} of {name}", bytes.saturating_sub(1))),
                None => (name.starts_with("byte ") || name.starts_with("bytes ")).then(|| name.to_string()),
            };
            let description = id.clone().unwrap_or_else(|| format!("`{name}` is neither a buffer nor a tile"));
            Ok(json!({ "dataId": id, "description": description, "accessTypes": ["read", "write", "readWrite"] }))
        }
        "exceptionInfo" => {
            let now = session.event_now();
            let found = session.findings().iter().find(|found| now.is_some() && session.finding_event(found) == now);
            let found = found.ok_or("no finding shows at this event")?;
            let (id, text) = (&found.code, found.render(session.source(), false));
            Ok(
                json!({ "exceptionId": id, "description": found.message, "breakMode": "always", "details": { "message": text } }),
            )
        }
        other => Err(unknown(other)),
    }
}

/// The message for a request that is not answered, at whatever moment it comes.
pub fn unknown(command: &str) -> String {
    format!("`{command}` is not a request that `slipring dap` answers")
}

/// The core or pipe of the present event; before the first event, that of the first. `None` for a run without events.
pub fn row_now(session: &Session) -> Option<usize> {
    let event = session.event_now().unwrap_or(0);
    (event < session.history().count()).then(|| session.history().row_of(event))
}

/// The core or pipe of the thread that a request names, else of the present event.
pub fn thread(session: &Session, asked: &Value) -> Result<usize, String> {
    let named = &asked["threadId"];
    if named.is_null() {
        return row_now(session).ok_or_else(|| "the run has no events".into());
    }
    let own = |row: &usize| named.as_u64() == Some(*row as u64 + 1);
    let found = session.history().rows().into_iter().map(|(row, _)| row).find(own);
    found.ok_or_else(|| format!("there is no thread {named}: `threads` lists them"))
}

fn pair(name: &str, value: &str) -> Value {
    json!({ "name": name, "value": value, "variablesReference": 0 })
}

/// A variable with children of its own.
fn whole(name: &str, value: &str, (reference, rows): (u64, usize)) -> Value {
    json!({ "name": name, "value": value, "variablesReference": reference, "indexedVariables": rows })
}

/// The variables of a scope, a tile or a buffer.
pub fn variables(session: &mut Session, asked: &Value) -> Vec<Value> {
    let (_, cycle) = session.place_in_time();
    let list: Vec<Value> = match asked["variablesReference"].as_u64().unwrap_or(0) {
        2 => {
            let doing = session.history().doing(cycle).into_iter();
            doing
                .map(|(who, slice, ended)| {
                    let ended = ended.map_or(String::new(), |ended| format!("; {ended}"));
                    pair(&who, &format!("{}{ended}", slice.name))
                })
                .collect()
        }
        3 => of_lines(session.history().rings(cycle).iter().map(String::as_str)),
        5 => of_lines(session.flags().lines()),
        4 => {
            let buffers = session.buffers().into_iter();
            buffers
                .map(|(name, elem, at)| {
                    let bytes = session.buffer(at).unwrap_or_default();
                    let text = buffer_contents(elem, &bytes);
                    let lines = bytes.len().div_ceil(elem.bytes() * LINE);
                    whole(&name, &text, (BUFFERS + at as u64, lines))
                })
                .collect()
        }
        6 => {
            let names = session.tile_names();
            let tiles = names.iter().enumerate().map(|(at, name)| {
                let tiles = session.tiles(name);
                let said: Vec<String> = tiles.iter().map(tile_contents).collect();
                let rows = tiles.iter().map(|tile| tile.shape[0] as usize).sum();
                whole(name, &said.join("; "), (TILES + at as u64, rows))
            });
            tiles.collect()
        }
        number if number >= BUFFERS => {
            let at = (number - BUFFERS) as usize;
            let Some((_, elem, at)) = session.buffers().into_iter().find(|(_, _, own)| *own == at) else {
                return Vec::new();
            };
            let bytes = session.buffer(at).unwrap_or_default();
            let lines = bytes.chunks(elem.bytes() * LINE).enumerate();
            lines.map(|(line, own)| pair(&format!("[{}]", line * LINE), &row(&decoded(elem, own)))).collect()
        }
        number if number >= TILES => {
            let names = session.tile_names();
            let Some(name) = names.get((number - TILES) as usize) else { return Vec::new() };
            let tiles = session.tiles(name);
            let rows = tiles.iter().flat_map(|tile| (0..tile.shape[0]).map(move |at| (tile, at)));
            rows.map(|(tile, at)| pair(&format!("{}[{at}]", tile.core), &row(&decoded(tile.elem, tile.row(at)))))
                .collect()
        }
        number if number > EVENTS && number - EVENTS - 1 < session.history().count() as u64 => {
            let slice = session.history().slice((number - EVENTS - 1) as usize);
            let facts = slice.args.iter().map(|(name, fact)| match fact {
                Fact::Number(number) => pair(name, &number.to_string()),
                Fact::Text(text) => pair(name, text),
            });
            std::iter::once(pair("cycle", &cycle.to_string())).chain(facts).collect()
        }
        _ => Vec::new(),
    };
    let part = |name: &str| asked[name].as_u64().map(|number| number as usize);
    let count = part("count").filter(|count| *count > 0).unwrap_or(usize::MAX);
    list.into_iter().skip(part("start").unwrap_or(0)).take(count).collect()
}

fn of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Value> {
    lines.filter_map(|line| line.rsplit_once(": ")).map(|(name, value)| pair(name, value)).collect()
}
