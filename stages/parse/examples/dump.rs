use almanac_parse::*; use almanac_freshness::tree::*; use std::path::Path;
fn main(){
 let root=std::env::args().nth(1).unwrap(); let out=std::env::args().nth(2).unwrap();
 let threads:usize=std::env::args().nth(3).map(|s|s.parse().unwrap()).unwrap_or(2);
 let rules=TreeRules{max_file_bytes:2<<20,ignore:vec![],include_hidden:true};
 let t0=std::time::Instant::now();
 let tree=Tree::scan(Path::new(&root),&rules,Path::new("/nonexistent")).unwrap();
 let scan=t0.elapsed();
 let inputs:Vec<_>=tree.files.iter().map(|f|TreeInput{path:f.path.clone(),bytes:f.bytes,digest:f.digest.map(|d|d.to_string()).unwrap_or_default(),problem:None}).collect();
 let params=ParseParams{max_chunk_size:2000,tree:rules};
 let rows=parse_tree(&inputs,&|p|std::fs::read(tree.absolute(p)),Previous::default(),&params,ParseRun{threads,file_seconds:20}).unwrap();
 eprintln!("scan {scan:?} total {:?}",t0.elapsed());
 let again=parse_tree(&inputs,&|p|std::fs::read(tree.absolute(p)),Previous::new(rows.files.clone(),rows.texts.clone(),rows.entities.clone(),rows.references.clone()),&params,ParseRun{threads,file_seconds:20}).unwrap();
 eprintln!("reused {} parsed {} same {}",again.reused,again.parsed,again.files==rows.files&&again.entities==rows.entities&&again.references==rows.references&&again.texts==rows.texts);
 let w=|n:&str,v:String|std::fs::write(format!("{out}.{n}.jsonl"),v).unwrap();
 w("files",rows.files.iter().map(|r|serde_json::to_string(r).unwrap()+"\n").collect());
 w("entities",rows.entities.iter().map(|r|serde_json::to_string(r).unwrap()+"\n").collect());
 w("references",rows.references.iter().map(|r|serde_json::to_string(r).unwrap()+"\n").collect());
 let mut ids=std::collections::BTreeSet::new(); for e in &rows.entities{ if !ids.insert(e.id.clone()){eprintln!("duplicate id {} {} {}",e.id,e.path,e.qualified_name)} }
}
