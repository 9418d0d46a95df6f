//! Packs whatever can be serialised, straight into bytes: every entry of a journal comes through here, and a tree of
//! values in between would cost more than all the rest.
//!
//! What comes out is to the byte what the same thing as a [`Value`](serde_json::Value) would come to, which a test holds.

use std::fmt::Display;

use serde::ser::{self, Serialize};

use super::{
    ADDRESS, ARRAY, DEPTH_LIMIT, EARLY_WORD, FALSE, FLOAT, FORMAT, NEGATIVE, NULL, NUMBERS, OBJECT, POSITIVE,
    PackError, SMALL, TEXT, TRUE, WORD,
};

/// Packs a value.
///
/// # Errors
/// `TooDeep`, and `Unwritable` for what JSON has no words for.
pub fn pack(value: &(impl Serialize + ?Sized)) -> Result<Vec<u8>, PackError> {
    let mut out = vec![FORMAT];
    value.serialize(Writer {
        out: &mut out,
        depth: DEPTH_LIMIT,
    })?;
    Ok(out)
}

impl ser::Error for PackError {
    /// The words are left out: errors are handed back through every level, and a large one would be a deep stack.
    fn custom<T: Display>(_why: T) -> Self {
        Self::Unwritable
    }
}

/// Writes one value.
struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// How many levels there may still be, this one with it.
    depth: usize,
}

impl<'a> Writer<'a> {
    fn below(&self) -> Result<usize, PackError> {
        self.depth.checked_sub(1).ok_or(PackError::TooDeep)
    }

    fn byte(self, byte: u8) -> Result<(), PackError> {
        self.below()?;
        self.out.push(byte);
        Ok(())
    }

    /// A list or an object of so many things; how many is only known at the end when it is not said.
    fn many(self, kind: u8, length: Option<usize>) -> Result<Many<'a>, PackError> {
        let depth = self.below()?;
        self.out.push(kind);
        if let Some(length) = length {
            write_length(length as u64, self.out);
        }
        Ok(Many {
            starts_at: self.out.len(),
            out: self.out,
            depth,
            counted: if length.is_none() { Some(0) } else { None },
        })
    }

    /// An object with one thing in it, as variants are written.
    fn variant(self, name: &str) -> Result<Self, PackError> {
        let depth = self.below()?;
        self.out.push(OBJECT);
        write_length(1, self.out);
        write_name(name, self.out);
        Ok(Self { out: self.out, depth })
    }
}

/// The things in a list or an object.
struct Many<'a> {
    out: &'a mut Vec<u8>,
    depth: usize,
    /// How many there are so far, where that was not said before; and where the first one begins.
    counted: Option<u64>,
    starts_at: usize,
}

impl Many<'_> {
    fn one(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), PackError> {
        if let Some(counted) = &mut self.counted {
            *counted += 1;
        }
        value.serialize(Writer {
            out: self.out,
            depth: self.depth,
        })
    }

    fn named(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), PackError> {
        write_name(name, self.out);
        self.one(value)
    }

    fn ended(self) -> Result<(), PackError> {
        if let Some(counted) = self.counted {
            let mut length = Vec::new();
            write_length(counted, &mut length);
            self.out.splice(self.starts_at..self.starts_at, length);
        }
        Ok(())
    }
}

impl<'a> ser::Serializer for Writer<'a> {
    type Ok = ();
    type Error = PackError;
    type SerializeSeq = Many<'a>;
    type SerializeTuple = Many<'a>;
    type SerializeTupleStruct = Many<'a>;
    type SerializeTupleVariant = Many<'a>;
    type SerializeMap = Many<'a>;
    type SerializeStruct = Many<'a>;
    type SerializeStructVariant = Many<'a>;

    fn serialize_bool(self, is: bool) -> Result<(), PackError> {
        self.byte(if is { TRUE } else { FALSE })
    }

    fn serialize_i8(self, number: i8) -> Result<(), PackError> {
        self.serialize_i64(number.into())
    }

    fn serialize_i16(self, number: i16) -> Result<(), PackError> {
        self.serialize_i64(number.into())
    }

    fn serialize_i32(self, number: i32) -> Result<(), PackError> {
        self.serialize_i64(number.into())
    }

    fn serialize_i64(self, number: i64) -> Result<(), PackError> {
        if let Ok(positive) = u64::try_from(number) {
            return self.serialize_u64(positive);
        }
        self.below()?;
        self.out.push(NEGATIVE);
        write_length(!number.cast_unsigned(), self.out);
        Ok(())
    }

    fn serialize_u8(self, number: u8) -> Result<(), PackError> {
        self.serialize_u64(number.into())
    }

    fn serialize_u16(self, number: u16) -> Result<(), PackError> {
        self.serialize_u64(number.into())
    }

    fn serialize_u32(self, number: u32) -> Result<(), PackError> {
        self.serialize_u64(number.into())
    }

    fn serialize_u64(self, number: u64) -> Result<(), PackError> {
        self.below()?;
        match u8::try_from(number) {
            Ok(small) if small < SMALL => self.out.push(SMALL | small),
            Ok(_) | Err(_) => {
                self.out.push(POSITIVE);
                write_length(number, self.out);
            }
        }
        Ok(())
    }

    fn serialize_f32(self, number: f32) -> Result<(), PackError> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), PackError> {
        // JSON has no other numbers.
        if !number.is_finite() {
            return self.byte(NULL);
        }
        self.below()?;
        self.out.push(FLOAT);
        self.out.extend(number.to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, letter: char) -> Result<(), PackError> {
        self.serialize_str(letter.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), PackError> {
        self.below()?;
        write_text(text, self.out);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), PackError> {
        bytes.serialize(self)
    }

    fn serialize_none(self) -> Result<(), PackError> {
        self.byte(NULL)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), PackError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), PackError> {
        self.byte(NULL)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), PackError> {
        self.byte(NULL)
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), PackError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), PackError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), PackError> {
        value.serialize(self.variant(variant)?)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Many<'a>, PackError> {
        self.many(ARRAY, length)
    }

    fn serialize_tuple(self, length: usize) -> Result<Many<'a>, PackError> {
        self.many(ARRAY, Some(length))
    }

    fn serialize_tuple_struct(self, _name: &'static str, length: usize) -> Result<Many<'a>, PackError> {
        self.many(ARRAY, Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Many<'a>, PackError> {
        self.variant(variant)?.many(ARRAY, Some(length))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Many<'a>, PackError> {
        self.many(OBJECT, length)
    }

    fn serialize_struct(self, _name: &'static str, length: usize) -> Result<Many<'a>, PackError> {
        self.many(OBJECT, Some(length))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Many<'a>, PackError> {
        self.variant(variant)?.many(OBJECT, Some(length))
    }
}

macro_rules! list {
    ($($kind:ident $item:ident),*) => {$(
        impl ser::$kind for Many<'_> {
            type Ok = ();
            type Error = PackError;

            fn $item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), PackError> {
                self.one(value)
            }

            fn end(self) -> Result<(), PackError> {
                self.ended()
            }
        }
    )*};
}

list!(SerializeSeq serialize_element, SerializeTuple serialize_element);
list!(SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);

macro_rules! object {
    ($($kind:ident),*) => {$(
        impl ser::$kind for Many<'_> {
            type Ok = ();
            type Error = PackError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), PackError> {
                self.named(name, value)
            }

            fn end(self) -> Result<(), PackError> {
                self.ended()
            }
        }
    )*};
}

object!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Many<'_> {
    type Ok = ();
    type Error = PackError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), PackError> {
        // As JSON writes names: a number becomes a text, and nothing that is made of parts is one.
        match serde_json::to_value(name) {
            Ok(serde_json::Value::String(name)) => write_name(&name, self.out),
            Ok(serde_json::Value::Number(number)) => write_name(&number.to_string(), self.out),
            Ok(serde_json::Value::Bool(is)) => write_name(if is { "true" } else { "false" }, self.out),
            Ok(_) | Err(_) => return Err(PackError::Unwritable),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), PackError> {
        self.one(value)
    }

    fn end(self) -> Result<(), PackError> {
        self.ended()
    }
}

fn write_name(name: &str, out: &mut Vec<u8>) {
    match NUMBERS.get(name) {
        Some(number) => write_length(number + 1, out),
        None => {
            out.push(0);
            write_bytes(name.as_bytes(), out);
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    if let Some(&number) = NUMBERS.get(text) {
        match u8::try_from(number) {
            Ok(early) if early < EARLY_WORD => out.push(EARLY_WORD | early),
            Ok(_) | Err(_) => {
                out.push(WORD);
                write_length(number, out);
            }
        }
        return;
    }
    let mut digest = [0; 32];
    match text.strip_prefix("sha256:") {
        // Capital digits would come back small.
        Some(digits)
            if hex::decode_to_slice(digits, &mut digest).is_ok() && !digits.bytes().any(|b| b.is_ascii_uppercase()) =>
        {
            out.push(ADDRESS);
            out.extend(digest);
        }
        Some(_) | None => {
            out.push(TEXT);
            write_bytes(text.as_bytes(), out);
        }
    }
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_length(bytes.len() as u64, out);
    out.extend(bytes);
}

/// Seven bits a byte, the lowest first; the eighth says that more follow.
fn write_length(mut length: u64, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push((length as u8 & 0x7f) | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}
