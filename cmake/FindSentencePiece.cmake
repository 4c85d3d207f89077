# Finds SentencePiece, which encodes texts and trains its models, as SentencePiece::SentencePiece. Its two libraries
# need nothing but the C++ runtime.
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_trainer.h)
find_library(SENTENCEPIECE_LIBRARY sentencepiece)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SentencePiece
  REQUIRED_VARS SENTENCEPIECE_LIBRARY SENTENCEPIECE_TRAIN_LIBRARY SENTENCEPIECE_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "on Debian: apt-get install libsentencepiece-dev")
mark_as_advanced(SENTENCEPIECE_LIBRARY SENTENCEPIECE_TRAIN_LIBRARY SENTENCEPIECE_INCLUDE_DIR)

if(SentencePiece_FOUND AND NOT TARGET SentencePiece::SentencePiece)
  add_library(SentencePiece::SentencePiece UNKNOWN IMPORTED)
  set_target_properties(SentencePiece::SentencePiece PROPERTIES
    IMPORTED_LOCATION ${SENTENCEPIECE_TRAIN_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SENTENCEPIECE_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES ${SENTENCEPIECE_LIBRARY})
endif()
